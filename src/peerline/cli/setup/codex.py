"""Codex: the tools in `config.toml` (spec/clients.md 4)."""

import json
from pathlib import Path
from typing import Final

from peerline.cli.setup.client import OPENING, Client, Env, Part, Session, folder
from peerline.cli.setup.entry import Entry
from peerline.cli.setup.toml_text import TOML

# Codex hands a server only the variables that are named. Their values stay in the user's environment.
PASSED: Final = (
    "CODEX_HOME",
    "KXM_AGENT_NAME",
    "KXM_AGENT_PURPOSE",
    "KXM_ATTEMPT_TOKEN",
    "KXM_AUTH_TOKEN",
    "KXM_PROJECT",
    "KXM_SERVER_URL",
    "KXM_SESSION_TOKEN",
    "KXM_SOCKET_PATH",
    "KXM_STATE_HOME",
    "KXM_TOOLS",
    "KXM_USER_CONFIG_DIR",
    "XDG_RUNTIME_DIR",
    "XDG_STATE_HOME",
)


def parts(env: Env, kxm: str) -> list[Part]:
    # Without the approval `codex exec` cannot call a tool at all: it has nobody to ask.
    server = {"command": kxm, "args": ["mcp"], "env_vars": list(PASSED), "default_tools_approval_mode": "approve"}
    tools = Entry(path=("mcp_servers", "kxm"), value=server, what="the kxm_ tools, which run without being asked for")
    return [Part(path=folder(env, "CODEX_HOME", ".codex") / "config.toml", entries=(tools,), dialect=TOML)]


_SESSION: Final = """model = "stand-in"
model_provider = "stand-in"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.stand-in]
name = "stand-in"
base_url = {model}
env_key = "STAND_IN_KEY"
wire_api = "responses"
supports_websockets = false

[projects.{folder}]
trust_level = "trusted"
"""


def session(env: Env, model: str) -> Session:
    """One whose first turn has been had, for Codex takes nothing before; nothing stays in the background."""
    config, folder = Path(env["HOME"]) / ".codex", Path(env["HOME"]) / "work"
    lines = _SESSION.format(model=json.dumps(f"{model}/v1"), folder=json.dumps(str(folder)))
    return Session(
        words=("--disable", "daemon_auto_start", OPENING),
        env={"CODEX_HOME": str(config), "STAND_IN_KEY": "none"},
        files={config / "config.toml": lines},
        opening=OPENING,
    )


CODEX: Final = Client(
    name="codex",
    title="Codex",
    programs=("codex",),
    parts=parts,
    listed=r"^kxm\s.*\benabled\b",
    connects=False,
    session=session,
    woken="a session in a terminal is woken through `codex queue`; `codex exec` is not, it looks with kxm_inbox",
)
