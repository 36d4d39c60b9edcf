"""Requests that wait for their turn: steer first, then followUp, then nextTurn; within one kind as they were sent."""

from collections import OrderedDict
from typing import Final

from peerline.client.records import Message

RANK: Final = {"steer": 0, "followUp": 1, "nextTurn": 2}
PATIENT: Final = 3
REMEMBERED: Final = 10_000


class Waiting:
    """`losses` of a request says how often the harness was lost in its turn; who loses it again and again goes last."""

    def __init__(self) -> None:
        self._open: dict[str, Message] = {}
        self._lost: dict[str, int] = {}
        self._known: OrderedDict[str, None] = OrderedDict()

    def add(self, message: Message) -> bool:
        """Take in a request; False if it has been here before or has ended."""
        if message.id in self._known or message.final:
            return False
        self._known[message.id] = None
        if len(self._known) > REMEMBERED:
            self._known.popitem(last=False)
        self._open[message.id] = message
        return True

    def put_back(self, message: Message, *, lost: bool) -> None:
        """Its turn did not come to an end; `lost`: the harness went with it."""
        if lost:
            self._lost[message.id] = self._lost.get(message.id, 0) + 1
        self._open[message.id] = message

    def drop(self, message_id: str) -> None:
        self._open.pop(message_id, None)
        self._lost.pop(message_id, None)

    def first(self, *, only_steer: bool = False) -> Message | None:
        """The next one, left where it is."""
        fitting = (one for one in self._open.values() if not only_steer or one.delivery == "steer")
        return min(fitting, key=self._place, default=None)

    def take(self, message_id: str) -> Message | None:
        return self._open.pop(message_id, None)

    def losses(self, message_id: str) -> int:
        return self._lost.get(message_id, 0)

    def _place(self, message: Message) -> tuple[bool, int, int]:
        return self.losses(message.id) >= PATIENT, RANK.get(message.delivery, 1), message.seq
