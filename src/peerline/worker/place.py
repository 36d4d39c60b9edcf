"""Where a worker's agent stands, as the command line worked it out: the hub, the name, and the keys that resume it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from peerline.client.records import Registered
from peerline.core.errors import Conflict


class NameTaken(Conflict):
    """A live session outside this worker has the agent's name."""

    code = "duplicate_agent_name"


class Identity(Protocol):
    """A name held by one process of this machine, and the keys that resume it on the hub."""

    def hold(self) -> bool:
        """Take the name; False if another process has it."""
        ...

    def keys(self) -> list[str]: ...

    def keep(self, registered: Registered) -> None: ...

    def release(self) -> None: ...


@dataclass(frozen=True, slots=True, kw_only=True)
class Place:
    """`addresses` are the ways to the hub, the best one first, looked up anew each time; `token` and `renewed_token`
    may block and raise a PeerlineError; the second asks for another one because the first was refused."""

    url: str
    project: str
    name: str
    purpose: str
    branch: str | None
    identity: Identity
    addresses: Callable[[], list[str]]
    token: Callable[[], str]
    renewed_token: Callable[[], str]
