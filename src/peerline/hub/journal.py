"""What the hub says about itself: log lines without bodies, and counters since the start (spec/hub.md 9.12)."""

from collections.abc import Callable, Sequence
from typing import Any

from peerline.core.ids import Millis
from peerline.core.message import Message
from peerline.core.redaction import redacted
from peerline.store.api import Hint
from peerline.wire.instants import instant

Line = dict[str, Any]

COUNTED = {
    "agent_registered": "kxm_registrations_total",
    "agent_resumed": "kxm_registrations_total",
    "message_sent": "kxm_messages_sent_total",
    "message_held": "kxm_messages_held_total",
    "message_replied": "kxm_messages_replied_total",
    "message_cancelled": "kxm_messages_cancelled_total",
    "message_expired": "kxm_messages_expired_total",
    "lease_acquired": "kxm_leases_granted_total",
    "lease_denied": "kxm_leases_refused_total",
    "lease_released": "kxm_leases_released_total",
}


TOLD = {
    "message": "message_sent",  # a held one when it is let go
    "held": "message_held",
    "reply": "message_replied",
    "cancelled": "message_cancelled",
    "expired": "message_expired",
}


class Journal:
    """`write` takes one line at a time and must not block; it is called on the event loop's thread."""

    def __init__(self, write: Callable[[Line], None], now: Callable[[], Millis]) -> None:
        self._write, self._now = write, now
        self.counters: dict[str, int] = {}

    def count(self, counter: str, by: int = 1) -> None:
        self.counters[counter] = self.counters.get(counter, 0) + by

    def event(self, event: str, level: str = "info", **about: Any) -> None:
        counter = COUNTED.get(event)
        if counter is not None:
            self.count(counter)
        self._line(event, level, redacted(about))

    def _line(self, event: str, level: str, about: Line) -> None:
        self._write({"timestamp": instant(self._now()), "level": level, "component": "hub", "event": event, **about})

    def committed(self, hints: Sequence[Hint]) -> None:
        """One line for each message that was sent or became final in a commit."""
        for hint in hints:
            message = hint.message
            event = TOLD.get(hint.kind)
            if event is not None and (hint.kind != "expired" or hint.agent == message.sender):
                self.message(event, message)

    def message(self, event: str, message: Message) -> None:
        """The hot one: its members are known to be no secrets, so nothing is searched."""
        self.count(COUNTED[event])
        self._write(
            {
                "timestamp": instant(self._now()),
                "level": "info",
                "component": "hub",
                "event": event,
                "id": message.id,
                "project": message.project,
                "status": message.status,
                "delivery": message.delivery,
                "from": message.sender,
                "fromName": message.sender_name,
                "to": message.recipient,
                "toName": message.recipient_name,
            }
        )
