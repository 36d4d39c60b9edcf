"""The seat: a private file by which the tools in a supervised session act as the worker's agent.

They open a session of their own beside the worker's, take no requests, and send one hop past the request at hand.
"""

from collections.abc import Iterable
from typing import Any, Final

from peerline.client.records import Message, Registered
from peerline.worker.files import Files

SCHEMA: Final = "kxm.worker-seat.v1"
VARIABLE: Final = "KXM_WORKER_SEAT"


class Seat:
    def __init__(self, files: Files, *, url: str, project: str) -> None:
        self._files, self._url, self._project = files, url, project
        self._registered: Registered | None = None
        self._active: Message | None = None

    def prepare(self, name: str) -> None:
        """Before the agent is registered: the tools know who they will be, and wait."""
        self._write({"name": name, "project": self._project})

    @property
    def path(self) -> str:
        return str(self._files.seat)

    def registered(self, registered: Registered) -> None:
        self._registered = registered
        self._tell()

    def at_work_on(self, requests: Iterable[Message]) -> None:
        """What the session sends now may be sent because of these; the one that has come furthest counts."""
        self._active = max(requests, key=lambda one: one.hops, default=None)
        self._tell()

    def remove(self) -> None:
        self._files.seat.unlink(missing_ok=True)

    def _tell(self) -> None:
        if self._registered is None:
            return
        agent = self._registered.agent
        named = {"name": agent.name, "project": agent.project or self._project, "agentId": agent.id}
        self._write({**named, "agentKey": self._registered.agent_key, "active": _chain(self._active)})

    def _write(self, value: dict[str, Any]) -> None:
        self._files.write_object(self._files.seat, {"schema": SCHEMA, "url": self._url, **value})


def _chain(message: Message | None) -> dict[str, Any] | None:
    if message is None:
        return None
    return {
        "id": message.id,
        "from": message.sender,
        "hops": message.hops,
        "maxHops": message.max_hops,
        "path": list(message.path),
    }
