"""The clients that can be set up, by name."""

import difflib
from typing import Final

from peerline.cli.hot_output import usage
from peerline.cli.setup.claude import CLAUDE
from peerline.cli.setup.client import Client
from peerline.cli.setup.codex import CODEX
from peerline.cli.setup.cursor import CURSOR
from peerline.cli.setup.gemini import GEMINI
from peerline.cli.setup.opencode import OPENCODE
from peerline.cli.setup.pi import PI

CLIENTS: Final = {client.name: client for client in (CLAUDE, CODEX, GEMINI, OPENCODE, PI, CURSOR)}


def named(name: str) -> Client:
    """The client of that name.

    Raises:
        Failure: there is none.
    """
    if client := CLIENTS.get(name.lower()):
        return client
    near = difflib.get_close_matches(name.lower(), CLIENTS, n=1, cutoff=0.5)
    hint = f"did you mean {near[0]}?" if near else f"the clients are {', '.join(CLIENTS)}"
    raise usage(f"there is no client «{name}»; {hint}")
