"""How long commits take and how much work shares one: recorded where the commit runs, read by whoever asks."""

from collections.abc import Callable

from peerline.core.histogram import DURATIONS_S, SIZES, Histogram


class Measure:
    def __init__(self, clock: Callable[[], float]) -> None:
        """`clock` gives seconds that only go forward."""
        self.clock = clock
        self.commit_s = Histogram(DURATIONS_S)
        self.group = Histogram(SIZES)

    def committed(self, began: float, works: int) -> None:
        """A group of `works` is on disk; its COMMIT began at `began`."""
        self.commit_s.record(self.clock() - began)
        self.group.record(works)
