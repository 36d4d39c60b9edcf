"""What other agents ask of this session, and which of its own requests have come to an end it has not read."""

from collections import OrderedDict
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Final

from peerline.client.records import Message

REMEMBERED: Final = 10_000


class Seen:
    """The last ids of something, so that memory stays bounded."""

    def __init__(self) -> None:
        self._ids: OrderedDict[str, None] = OrderedDict()

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._ids

    def add(self, message_id: str) -> bool:
        """Whether it was new."""
        if message_id in self._ids:
            return False
        self._ids[message_id] = None
        if len(self._ids) > REMEMBERED:
            self._ids.popitem(last=False)
        return True

    def discard(self, message_id: str) -> None:
        self._ids.pop(message_id, None)


class Inbox:
    """Requests that this session has taken and not answered."""

    def __init__(self) -> None:
        self._open: dict[str, Message] = {}
        self._gone = Seen()

    def __contains__(self, message_id: str) -> bool:
        return message_id in self._open

    def admit(self, message: Message) -> bool:
        """Take a request in; False if it is in already, or has ended before its news came."""
        if message.id in self._gone or message.id in self._open or message.final:
            return False
        self._open[message.id] = message
        return True

    def drop(self, message_id: str) -> None:
        """It has ended: answered, cancelled, expired or purged. It does not come back."""
        self._gone.add(message_id)
        self._open.pop(message_id, None)

    def known(self) -> frozenset[str]:
        return frozenset(self._open)

    def renew(self, known: frozenset[str], found: tuple[Message, ...]) -> tuple[Message, ...]:
        """What the hub has open for us, `known` being what we had when it was asked; what came since stays."""
        listed = {message.id for message in found}
        for message_id in known - listed:
            self.drop(message_id)
        still = tuple(message for message in found if message.id not in self._gone)
        self._open |= {message.id: message for message in still if message.status == "delivered"}
        return still

    def furthest(self) -> Message | None:
        """The open request with the longest chain behind it: what is sent now may be sent because of it."""
        return max(self._open.values(), key=lambda message: message.hops, default=None)


class Outcomes:
    """Ends of our own requests: each is told once, unless a call that waits for it, or reads it, gets it first."""

    def __init__(self, tell: Callable[[Message], None]) -> None:
        self._tell = tell
        self._waited: dict[str, int] = {}
        self._held: dict[str, Message] = {}
        self._told = Seen()

    def ended(self, message: Message) -> None:
        """A request of ours has come to its end."""
        if message.id in self._waited:
            self._held[message.id] = message
        elif self._told.add(message.id):
            try:
                self._tell(message)
            except OSError:
                self._told.discard(message.id)
                raise

    def read(self, message_id: str) -> None:
        self._told.add(message_id)

    @contextmanager
    def waiting(self, message_id: str) -> Iterator[None]:
        """While a call waits for it, the end is the call's to tell; one that gives up leaves it to us again."""
        self._waited[message_id] = self._waited.get(message_id, 0) + 1
        try:
            yield
        finally:
            self._waited[message_id] -= 1
            if not self._waited[message_id]:
                del self._waited[message_id]
                if held := self._held.pop(message_id, None):
                    self.ended(held)
