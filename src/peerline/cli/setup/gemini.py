"""Gemini CLI: the tools, and hooks that name what waits, in `settings.json` (spec/clients.md 1, 6). It has no way to be
woken."""

import shlex
from pathlib import Path
from typing import Any, Final

from peerline.cli.setup.client import OPENING, Client, Env, Part, Session, home
from peerline.cli.setup.entry import Entry

# Its names of the moments, and ours.
HOOKS: Final = {"SessionStart": "session-start", "BeforeAgent": "prompt"}


def parts(env: Env, kxm: str) -> list[Part]:
    tools = Entry(path=("mcpServers", "kxm"), value={"command": kxm, "args": ["mcp"]}, what="the kxm_ tools")
    hooks = [
        Entry(path=("hooks", event), value=_hook(kxm, ours), what=f"the {ours} hook", listed=True)
        for event, ours in HOOKS.items()
    ]
    return [Part(path=home(env) / ".gemini" / "settings.json", entries=(tools, *hooks))]


def _hook(kxm: str, event: str) -> dict[str, Any]:
    command = f"{shlex.quote(kxm)} hook {event} --client gemini"
    return {"hooks": [{"type": "command", "command": command, "timeout": 5_000}]}


def session(env: Env, model: str) -> Session:
    """A run that ends with its prompt, for nothing wakes a longer one; the next is told what waits."""
    chosen = {
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
    }
    return Session(
        words=("--skip-trust", "-m", "gemini-2.5-flash", "-p", OPENING),
        env={"GEMINI_API_KEY": "none", "GOOGLE_GEMINI_BASE_URL": model, "KXM_HOOK_WAIT_MS": "2000"},
        files={Path(env["HOME"]) / ".gemini" / "settings.json": chosen},
        opening=OPENING,
        waits=False,
    )


GEMINI: Final = Client(
    name="gemini",
    title="Gemini CLI",
    programs=("gemini",),
    parts=parts,
    listed=r"\bkxm: .* - Connected$",
    session=session,
    woken="it has no way to be woken; its hooks name what waits when a session starts and with each prompt",
)
