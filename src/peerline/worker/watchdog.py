"""Which tools of the harness run, and since when: one that does not come back ends the session."""

from peerline.core.ids import Millis


class Watchdog:
    """`limit` 0: tools may take as long as they like."""

    def __init__(self, limit: Millis) -> None:
        self._limit = limit
        self._running: dict[str, tuple[Millis, str]] = {}

    def began(self, tool_id: str, name: str, now: Millis) -> None:
        self._running.setdefault(tool_id, (now, name))

    def ended(self, tool_id: str) -> None:
        self._running.pop(tool_id, None)

    def clear(self) -> None:
        self._running.clear()

    @property
    def deadline(self) -> Millis | None:
        """When the tool that has run longest has run too long."""
        if not self._limit or not self._running:
            return None
        return min(since for since, _ in self._running.values()) + self._limit

    def overdue(self, now: Millis) -> str | None:
        """The name of a tool that has run too long."""
        if not self._limit:
            return None
        late = [(since, name) for since, name in self._running.values() if since + self._limit <= now]
        return min(late)[1] if late else None
