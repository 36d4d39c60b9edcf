"""Where a session stands, as the command line worked it out: the hub, the project, the name, and files of its own."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from peerline.core.errors import PeerlineError


class NoToken(PeerlineError):
    """This machine knows no token of the project, and no hub here can make one."""

    code = "project_token_missing"


def _allowed(tool: str, arguments: object) -> str | None:
    """No token limits the tools."""
    return None


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`url` is how people name the hub; `addresses` are the ways there, the best one first, looked up anew each time.

    `token` and `renewed_token` may block and raise NoToken or Unreachable; the second asks for another one because the
    first was refused. `denial` says why a tool may not be called with these arguments, or nothing. `watched` says
    whether a monitor of that client session runs; `claim_name` names a file alike for all who may edit it. `write`
    replaces a private file in one step; `read` gives the object in one, or nothing. `seat` reads the seat of the worker
    that this session is under.
    """

    url: str
    project: str
    name: str
    purpose: str
    branch: str | None
    session_id: str | None
    headless: bool
    addresses: Callable[[], list[str]]
    token: Callable[[], str]
    renewed_token: Callable[[], str]
    key_file: Callable[[str], str]
    record_file: Callable[[str], str | None]
    watched: Callable[[str | None], bool]
    claim_name: Callable[[str], str]
    write: Callable[[str, bytes], None]
    read: Callable[[str], dict[str, Any]]
    seat: Callable[[], dict[str, Any]] | None = None
    denial: Callable[[str, object], str | None] = _allowed
