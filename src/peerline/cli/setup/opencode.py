"""OpenCode: the tools and the plugin that wakes, in `opencode.json` (spec/clients.md 1, 6)."""

from typing import Final

from peerline.cli.setup.client import OPENING, Client, Env, Part, Session, folder, home
from peerline.cli.setup.entry import Entry
from peerline.cli.setup.shipped import plugin


def parts(env: Env, kxm: str) -> list[Part]:
    config = folder(env, "XDG_CONFIG_HOME", ".config") / "opencode"
    # It reads both names; the one that is there is its user's.
    path = next((one for one in (config / "opencode.jsonc", config / "opencode.json") if one.is_file()), None)
    server = {"type": "local", "command": [kxm, "mcp"], "enabled": True}
    tools = Entry(path=("mcp", "kxm"), value=server, what="the kxm_ tools")
    wake = Entry(path=("plugin",), value=str(plugin("opencode") / "kxm.js"), what="the plugin that wakes", listed=True)
    return [Part(path=path or config / "opencode.json", entries=(tools, wake))]


def session(env: Env, model: str) -> Session:
    """One with a conversation, for there is nothing else to wake."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "stand-in",
        "options": {"baseURL": f"{model}/v1", "apiKey": "none"},
        "models": {"stand-in": {"name": "stand-in"}},
    }
    chosen = {
        "autoupdate": False,
        "share": "disabled",
        "model": "stand-in/stand-in",
        "permission": {"*": "allow"},
        "provider": {"stand-in": provider},
    }
    return Session(
        words=("--prompt", OPENING),
        env={},
        files={home(env) / ".config" / "opencode" / "opencode.json": chosen},
        opening=OPENING,
    )


OPENCODE: Final = Client(
    name="opencode",
    title="OpenCode",
    programs=("opencode",),
    parts=parts,
    session=session,
    listed=r"\bkxm\s+connected$",
    woken="the plugin wakes the conversation that was written in last, in a terminal or under `opencode serve`;"
    " `opencode run` is told with its prompt",
)
