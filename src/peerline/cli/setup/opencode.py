"""OpenCode: the tools in `opencode.json` (spec/clients.md 6)."""

from typing import Final

from peerline.cli.setup.client import Client, Env, Part, folder
from peerline.cli.setup.entry import Entry


def parts(env: Env, kxm: str) -> list[Part]:
    config = folder(env, "XDG_CONFIG_HOME", ".config") / "opencode"
    # It reads both names; the one that is there is its user's.
    path = next((one for one in (config / "opencode.jsonc", config / "opencode.json") if one.is_file()), None)
    server = {"type": "local", "command": [kxm, "mcp"], "enabled": True}
    tools = Entry(path=("mcp", "kxm"), value=server, what="the kxm_ tools")
    return [Part(path=path or config / "opencode.json", entries=(tools,))]


OPENCODE: Final = Client(
    name="opencode",
    title="OpenCode",
    programs=("opencode",),
    parts=parts,
    listed=r"\bkxm\s+connected$",
    woken="it looks with kxm_inbox when it is told to; this setup does not wake it",
)
