"""What in an inbox is worth stopping for, and in which order it is shown (spec/network.md 5, 7)."""

from collections.abc import Collection
from enum import StrEnum
from typing import Final

from peerline.core.post import Needs, Priority

RANK: Final = {Priority.BLOCKING: 0, Priority.HIGH: 1, Priority.NORMAL: 2, Priority.LOW: 3}


class Interruption(StrEnum):
    """Why an item is worth stopping for."""

    HUMAN = "needs-human"
    BLOCKING = "blocking"
    THREAD = "in-flight-thread"


def inbox_key(priority: Priority, arrival: int) -> tuple[int, int]:
    """Sorts an inbox: by priority, then as it came. A sender's clock moves nobody forward."""
    return RANK[priority], arrival


def interruption(needs: Needs, priority: Priority, thread: str, in_flight: Collection[str]) -> Interruption | None:
    """Why to stop for an item; None: it can wait. `in_flight` holds the threads of work that is under way here."""
    if needs is Needs.HUMAN:
        return Interruption.HUMAN
    if priority is Priority.BLOCKING:
        return Interruption.BLOCKING
    return Interruption.THREAD if thread in in_flight else None
