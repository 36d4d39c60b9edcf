"""How long to wait before the next start of a harness that ended by itself, and when to give up."""

from typing import Final

from peerline.core.ids import Millis

FIRST: Final[Millis] = 1_000
LONGEST: Final[Millis] = 30_000
STEADY: Final[Millis] = 60_000


class Restarts:
    """The pause doubles with each end that follows a start by less than a minute; `at_most` None: for ever."""

    def __init__(self, at_most: int | None) -> None:
        self._at_most = at_most
        self.count = 0

    def ended(self, uptime: Millis) -> Millis | None:
        """The pause before the next start, or None: it has been started often enough."""
        if uptime >= STEADY:
            self.count = 0
        if self._at_most is not None and self.count >= self._at_most:
            return None
        self.count += 1
        doubled: Millis = FIRST * 2 ** min(self.count - 1, 20)
        return min(LONGEST, doubled)
