"""How long to wait before the next try: exponential with full jitter, so that many clients do not come back at once."""

from typing import Final

FIRST_S: Final = 0.1
LONGEST_S: Final = 5.0


def pause_s(tries: int, chance: float, first_s: float = FIRST_S, longest_s: float = LONGEST_S) -> float:
    """Seconds before try number `tries` + 1; `chance` is in [0, 1)."""
    return chance * min(longest_s, first_s * 2.0 ** min(tries, 20))
