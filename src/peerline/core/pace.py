"""How often a monitor's line may come: a client that gets more than it takes shows nothing until the line after next.

Claude Code's monitors take ten events at once and one more each two seconds (read in 2.1.332). What is over is held
back and shown only with a later event; if none comes, nobody is woken. So we stay below, and say more in fewer lines.
"""

from collections.abc import Callable
from typing import Final

BURST: Final = 8
EACH_S: Final = 2.1


class Pace:
    """Room for `burst` lines, one more each `each_s`; `now` in seconds."""

    def __init__(self, now: Callable[[], float], burst: int = BURST, each_s: float = EACH_S) -> None:
        self._now, self._burst, self._each_s = now, burst, each_s
        self._free_at = now() - burst * each_s  # when, line by line, all of the room is free again

    def wait_s(self) -> float:
        """How long until the next line has room; 0: it has."""
        return max(0.0, self._free_at + self._each_s - self._now())

    def spend(self) -> None:
        """A line is out."""
        self._free_at = max(self._free_at, self._now() - self._burst * self._each_s) + self._each_s
