"""Counts by bucket: what a duration or a size costs to record on a hot path, and what is read of it later."""

from bisect import bisect_left
from collections.abc import Sequence
from typing import Final, NamedTuple

DURATIONS_S: Final[tuple[float, ...]] = (0.0005, 0.001, 0.002, 0.005, 0.01, 0.02, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 10.0)
SIZES: Final[tuple[int, ...]] = (1, 2, 4, 8, 16, 32, 64, 128, 256, 512)


class Distribution(NamedTuple):
    """What a histogram held at one moment; `cumulative` has one bucket more than `bounds`: everything."""

    bounds: tuple[float, ...]
    cumulative: tuple[int, ...]
    sum: float


class Histogram:
    """Written by one thread, read by any: a reading may miss the value that is just being recorded."""

    __slots__ = ("_bounds", "_counts", "_sum")

    def __init__(self, bounds: Sequence[float]) -> None:
        """`bounds` ascend; a value counts for the first bound that it does not exceed."""
        self._bounds = tuple(bounds)
        self._counts = [0] * (len(self._bounds) + 1)
        self._sum = 0.0

    def record(self, value: float) -> None:
        self._counts[bisect_left(self._bounds, value)] += 1
        self._sum += value

    def read(self) -> Distribution:
        total, cumulative = 0, []
        for count in list(self._counts):
            total += count
            cumulative.append(total)
        return Distribution(self._bounds, tuple(cumulative), self._sum)
