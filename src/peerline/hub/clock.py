"""The hub's own time: the wall clock at start, carried on by the monotonic one (decision 15)."""

from collections.abc import Callable

from peerline.core.ids import Millis

ADOPT_AFTER_MS = 60_000
DRIFT_MS = 1_000


class HubClock:
    """`now()` is hub time in milliseconds since 1970, `monotonic()` for leases, limits and waits.

    A jump of the wall clock is adopted only after it has held for 60 s, so that a step that is taken back expires
    nothing. `look()` compares the two; the sweeper calls it.
    """

    def __init__(self, wall: Callable[[], float], monotonic: Callable[[], float]) -> None:
        """Both sources give seconds."""
        self._wall, self._monotonic = wall, monotonic
        self._offset = wall() - monotonic()
        self._jumped_at: float | None = None
        self._jump = 0.0

    def now(self) -> Millis:
        return int((self._offset + self._monotonic()) * 1000)

    def at(self, monotonic: Millis) -> Millis:
        """Hub time at a monotonic moment of now."""
        return int(self._offset * 1000) + monotonic

    def monotonic(self) -> Millis:
        return int(self._monotonic() * 1000)

    def look(self) -> None:
        mono = self._monotonic()
        offset = self._wall() - mono
        if abs(offset - self._offset) * 1000 < DRIFT_MS:
            self._jumped_at = None
        elif self._jumped_at is None or abs(offset - self._jump) * 1000 >= DRIFT_MS:
            self._jumped_at, self._jump = mono, offset
        elif (mono - self._jumped_at) * 1000 >= ADOPT_AFTER_MS:
            self._offset, self._jumped_at = offset, None
