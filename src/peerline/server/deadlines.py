"""Deadlines of connections: one wheel with a bucket a second, looked at once a second."""

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass
from math import inf
from typing import Protocol

NEVER = inf


@dataclass(frozen=True, slots=True, kw_only=True)
class Deadlines:
    """How long a connection may take, in seconds; each is an upper bound, met up to two seconds early.

    `head_s` is for the first request's bytes and for every header block, `body_s` for a whole request, `idle_s` between
    two requests, `stall_s` for a peer that takes nothing of what waits for it, `linger_s` to read the answer of a
    refusal, `drain_s` for pending answers at shutdown.
    """

    head_s: float = 15
    body_s: float = 30
    idle_s: float = 30
    stall_s: float = 30
    linger_s: float = 3
    drain_s: float = 5


class Timed(Protocol):
    """What the wheel watches: `due` may move at will, `armed` belongs to the wheel (start with `NEVER`)."""

    armed: float

    @property
    def due(self) -> float: ...

    def expire(self) -> None:
        """`due` has passed."""


class Wheel:
    """Moving a deadline later costs nothing here: an entry is only checked, and put on, when its old second comes."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._buckets: defaultdict[int, set[Timed]] = defaultdict(set)
        self.now = clock()
        self._turned = int(self.now)

    def arm(self, timed: Timed) -> None:
        """Call after `due` has become earlier than `armed`."""
        if timed.armed != NEVER:
            self._drop(timed)
        timed.armed = float(max(int(timed.due), self._turned + 1))
        self._buckets[int(timed.armed)].add(timed)

    def forget(self, timed: Timed) -> None:
        if timed.armed != NEVER:
            self._drop(timed)
            timed.armed = NEVER

    def _drop(self, timed: Timed) -> None:
        second = int(timed.armed)
        bucket = self._buckets[second]
        bucket.discard(timed)
        if not bucket:
            del self._buckets[second]

    def turn(self) -> None:
        """Look at every bucket whose second has come; to be called about once a second."""
        self.now = self._clock()
        while self._turned < int(self.now):
            self._turned += 1
            for timed in self._buckets.pop(self._turned, ()):
                timed.armed = NEVER
                if timed.due < self._turned + 1:
                    timed.expire()
                elif timed.due != NEVER:
                    self.arm(timed)

    def __len__(self) -> int:
        return sum(map(len, self._buckets.values()))
