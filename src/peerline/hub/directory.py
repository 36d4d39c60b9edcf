"""Who can be reached by way of rooms, as each project's gateway said last; in memory: it is said again."""

from collections.abc import Sequence
from typing import Any

from peerline.core import directory
from peerline.core.directory import Remote
from peerline.core.text import lower
from peerline.wire.directory import known


class Directory:
    def __init__(self) -> None:
        self._known: dict[str, tuple[Remote, ...]] = {}

    def put(self, project: str, known: Sequence[Remote]) -> None:
        """What the project's gateway knows now, instead of what it knew."""
        self._known[project] = tuple(known)

    def of(self, project: str) -> tuple[Remote, ...]:
        return self._known.get(project, ())

    def find(self, project: str, address: str) -> Remote | None:
        """A wish for one of its sessions is no part of who it is."""
        agent, _, where = address.partition("@")
        wanted = lower(f"{agent.partition('/')[0]}@{where}")
        return next((remote for remote in self.of(project) if lower(remote.address) == wanted), None)

    def receipt(self, project: str, address: str) -> dict[str, Any] | None:
        """What a sender is told of who is asked, and whether they follow the room; None: a whole room is asked."""
        agent = lower(address.partition("@")[0].partition("/")[0])
        if not agent:
            return None
        if (remote := self.find(project, address)) is not None:
            return {"follows": "yes", **known(remote)}
        elsewhere = next((one for one in self.of(project) if lower(one.agent) == agent), None)
        return {"follows": "unknown"} if elsewhere is None else {"follows": "no", **known(elsewhere, elsewhere=True)}

    def lone(self, project: str, name: str) -> str | None:
        """Raises: TargetAmbiguous."""
        return directory.lone(name, self.of(project))
