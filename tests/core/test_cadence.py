"""How often the daemon looks (spec/network.md 6.2)."""

import pytest

from peerline.core.cadence import LONGEST_S, Surroundings, cadence, pause

MINUTE = 60_000
NOW = 100 * 24 * 60 * MINUTE


def around(**changes: object) -> Surroundings:
    return Surroundings(**{"now": NOW, "active_at": 0, **changes})  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("given", "pace"),
    [
        (around(), "idle"),
        (around(active_at=NOW - 5 * MINUTE), "hot"),
        (around(active_at=NOW - 5 * MINUTE - 1), "warm"),
        (around(active_at=NOW - 60 * MINUTE), "warm"),
        (around(active_at=NOW - 60 * MINUTE - 1), "cool"),
        (around(active_at=NOW - 24 * 60 * MINUTE), "cool"),
        (around(active_at=NOW - 24 * 60 * MINUTE - 1), "idle"),
        (around(sessions=1), "hot"),
        (around(asked_at=NOW - 2 * MINUTE), "hot"),
        (around(asked_at=NOW - 2 * MINUTE - 1), "idle"),
        (around(waiting_for_human=True), "warm"),
    ],
)
def test_the_pace_follows_what_happens(given: Surroundings, pace: str) -> None:
    assert cadence(given) == pace


@pytest.mark.parametrize(("chance", "seconds"), [(0.0, 480.0), (0.5, 600.0), (0.999999, 719.99976)])
def test_a_pause_is_spread_by_a_fifth(chance: float, seconds: float) -> None:
    assert pause(around(), lambda: chance) == pytest.approx(seconds)


def test_failures_lengthen_the_pause_up_to_a_quarter_of_an_hour() -> None:
    pauses = [pause(around(sessions=1, failures=n), lambda: 0.5) for n in range(13)]
    assert pauses[:4] == [10.0, 11.0, 12.0, 14.0]
    assert pauses == sorted(pauses)
    assert pause(around(sessions=1, failures=10_000), lambda: 0.9) == LONGEST_S
