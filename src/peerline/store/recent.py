"""Open messages as they were stored last: most are taken and replied within a moment of being sent."""

from typing import Final

from peerline.core.ids import MessageId
from peerline.core.message import Message

MOST_BYTES: Final = 4_194_304
SMALL: Final = 1_024  # what a message weighs beside its text, roughly


class Recent:
    """A second look at what the table holds, never a second truth: every change of a row goes through `MessageTable`,
    which keeps this in step, and a transaction that is undone empties it."""

    def __init__(self, most_bytes: int = MOST_BYTES) -> None:
        self._most_bytes = most_bytes
        self._messages: dict[MessageId, Message] = {}
        self._bytes = 0
        self.get = self._messages.get

    def keep(self, message: Message) -> None:
        """The row is now this message, which is open."""
        if message.id not in self._messages:
            weight = SMALL + len(message.body)
            if weight > self._most_bytes:
                return
            if self._bytes + weight > self._most_bytes:
                self.clear()
            self._bytes += weight
        self._messages[message.id] = message

    def drop(self, message_id: MessageId) -> None:
        """The row has become final, or is gone: it will hardly be asked for again."""
        message = self._messages.pop(message_id, None)
        if message is not None:
            self._bytes -= SMALL + len(message.body)

    def clear(self) -> None:
        self._messages.clear()
        self._bytes = 0

    def __len__(self) -> int:
        return len(self._messages)
