"""Where a network's copy lies, who acts in it, and which rooms they follow."""

from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple, Protocol


class Place(NamedTuple):
    """`folder` is `networks/<id>` of the agent's home; `remote` the address of the repository."""

    folder: Path
    remote: str
    network: str


class Identity(NamedTuple):
    """What stands on everything this agent writes and on its card."""

    agent: str
    display_name: str
    human: str
    timezone: str = "UTC"
    tool: str = "cli"


class Subscriptions(Protocol):
    """The rooms that are followed; they stand in config.yaml, and another process may change them at any time."""

    def get(self) -> tuple[str, ...]: ...

    def add(self, room: str) -> None: ...

    def remove(self, room: str) -> None: ...


class MemorySubscriptions:
    """Subscriptions that end with the process."""

    def __init__(self, rooms: Iterable[str] = ()) -> None:
        self._rooms = set(rooms)

    def get(self) -> tuple[str, ...]:
        return tuple(sorted(self._rooms))

    def add(self, room: str) -> None:
        self._rooms.add(room)

    def remove(self, room: str) -> None:
        self._rooms.discard(room)
