"""Pi: the tools in `mcp.json` of its agent folder (spec/clients.md 5)."""

from typing import Final

from peerline.cli.setup.client import Client, Env, Part, home
from peerline.cli.setup.entry import Entry


def parts(env: Env, kxm: str) -> list[Part]:
    server = {"command": kxm, "args": ["mcp"], "exposure": "direct"}
    tools = Entry(path=("mcpServers", "kxm"), value=server, what="the kxm_ tools")
    return [Part(path=home(env) / ".pi" / "agent" / "mcp.json", entries=(tools,))]


PI: Final = Client(
    name="pi",
    title="Pi",
    programs=("pi",),
    parts=parts,
    listed=r"^kxm: connected\b",
    woken="it looks with kxm_inbox when it is told to; this setup does not wake it",
)
