"""How often the network's daemon looks at the remote: quickly where something happens, seldom where nothing does."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Final

from peerline.core.ids import Millis

HOT_S: Final = 10.0
WARM_S: Final = 30.0
COOL_S: Final = 120.0
IDLE_S: Final = 600.0
JITTER: Final = 0.2
BACK_OFF_S: Final = 2.0
LONGEST_S: Final = 900.0

_MINUTE: Final = 60_000


@dataclass(frozen=True, slots=True, kw_only=True)
class Surroundings:
    """What the next look depends on (spec/network.md 6.2). Times are of one clock, in milliseconds."""

    now: Millis
    active_at: Millis  # the last message that came or went, or the daemon's start
    asked_at: Millis | None = None  # the last request over the socket
    sessions: int = 0
    waiting_for_human: bool = False
    failures: int = 0  # looks that failed since the last good one


def cadence(around: Surroundings) -> str:
    """The name of the pace: hot, warm, cool or idle."""
    quiet = around.now - around.active_at
    if (
        around.sessions
        or quiet <= 5 * _MINUTE
        or (around.asked_at is not None and around.now - around.asked_at <= 2 * _MINUTE)
    ):
        return "hot"
    if around.waiting_for_human or quiet <= 60 * _MINUTE:
        return "warm"
    return "cool" if quiet <= 24 * 60 * _MINUTE else "idle"


def pause(around: Surroundings, chance: Callable[[], float]) -> float:
    """Seconds until the next look; `chance` gives numbers from 0 to below 1."""
    base = {"hot": HOT_S, "warm": WARM_S, "cool": COOL_S, "idle": IDLE_S}[cadence(around)]
    spread = base * (1 + JITTER * (2 * chance() - 1))
    if not around.failures:
        return spread
    return min(LONGEST_S, spread + chance() * BACK_OFF_S * 2.0 ** min(around.failures - 1, 20))
