"""Cursor: the tools in `mcp.json`. Written and checked for its form only; it was never run with it."""

from typing import Final

from peerline.cli.setup.client import Client, Env, Part, home
from peerline.cli.setup.entry import Entry


def parts(env: Env, kxm: str) -> list[Part]:
    tools = Entry(path=("mcpServers", "kxm"), value={"command": kxm, "args": ["mcp"]}, what="the kxm_ tools")
    return [Part(path=home(env) / ".cursor" / "mcp.json", entries=(tools,))]


CURSOR: Final = Client(
    name="cursor",
    title="Cursor",
    programs=("cursor", "cursor-agent"),
    parts=parts,
    unwoken="only the form of its file was ever tested",
    woken="it looks with kxm_inbox when it is told to; with Cursor only the form of the file was tested",
)
