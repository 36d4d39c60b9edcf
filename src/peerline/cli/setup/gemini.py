"""Gemini CLI: the tools in `settings.json` (spec/clients.md 6)."""

from typing import Final

from peerline.cli.setup.client import Client, Env, Part, home
from peerline.cli.setup.entry import Entry


def parts(env: Env, kxm: str) -> list[Part]:
    tools = Entry(path=("mcpServers", "kxm"), value={"command": kxm, "args": ["mcp"]}, what="the kxm_ tools")
    return [Part(path=home(env) / ".gemini" / "settings.json", entries=(tools,))]


GEMINI: Final = Client(
    name="gemini",
    title="Gemini CLI",
    programs=("gemini",),
    parts=parts,
    listed=r"\bkxm: .* - Connected$",
    woken="it looks with kxm_inbox when it is told to; it has no way to be woken",
)
