"""A session under a worker: its tools act as the worker's agent, and the worker takes the requests.

The worker writes the seat, a private file: who it is on the hub, and which request its session is at work on.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from typing import Any, Final

from peerline.client.records import Message, Registered
from peerline.tools.inbox import Inbox

WITHOUT: Final = frozenset(["kxm_inbox", "kxm_reply"])
NOTICE: Final = (
    "You are supervised: each request of another agent becomes a turn of its own, and the final answer of that turn is "
    "the reply, so there is no kxm_inbox and no kxm_reply."
)
_NEVER: Final = datetime.fromtimestamp(0, UTC)


class SeatedIdentity:
    """The worker's name and key; both stay the worker's."""

    def __init__(self, seat: Callable[[], Mapping[str, Any]], name: str) -> None:
        self._seat, self.name = seat, name

    def hold(self) -> bool:
        return True

    def keys(self) -> list[str]:
        key = self._seat().get("agentKey")
        return [key] if isinstance(key, str) else []

    def keep(self, registered: Registered) -> None:
        pass

    def release(self) -> None:
        pass

    def forget(self) -> None:
        pass


class SeatedInbox(Inbox):
    """Empty: but what the session sends is sent because of the request that its worker is at work on."""

    def __init__(self, seat: Callable[[], Mapping[str, Any]]) -> None:
        super().__init__()
        self._seat = seat

    def furthest(self) -> Message | None:
        active = self._seat().get("active")
        if not isinstance(active, dict):
            return None
        try:
            return Message(
                id=str(active["id"]),
                sender=str(active["from"]),
                recipient="",
                status="delivered",
                created_at=_NEVER,
                expires_at=_NEVER,
                hops=int(active["hops"]),
                max_hops=int(active["maxHops"]),
                path=tuple(map(str, active["path"])),
            )
        except (KeyError, TypeError, ValueError):
            return None
