"""Pauses between starts, models after a failure, tools that do not come back: all by a clock that is handed in."""

from peerline.worker.models import NEXT_AFTER, Models
from peerline.worker.restarts import STEADY, Restarts
from peerline.worker.watchdog import Watchdog


def test_the_pause_doubles_to_half_a_minute() -> None:
    restarts = Restarts(None)
    assert [restarts.ended(10) for _ in range(8)] == [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 30_000]


def test_a_minute_of_life_begins_the_pauses_anew() -> None:
    restarts = Restarts(None)
    for _ in range(5):
        restarts.ended(10)
    assert restarts.ended(STEADY) == 1_000
    assert restarts.ended(STEADY - 1) == 2_000


def test_it_is_given_up_after_as_many_restarts_in_a_row_as_are_allowed() -> None:
    restarts = Restarts(2)
    assert [restarts.ended(10) for _ in range(3)] == [1_000, 2_000, None]
    assert Restarts(0).ended(10) is None
    steady = Restarts(1)
    assert [steady.ended(STEADY) for _ in range(5)] == [1_000] * 5


def test_each_failure_goes_one_model_further_and_never_back() -> None:
    models = Models(("first", "second", "third"), 60_000)
    seen = []
    for _ in range(4):
        seen.append((models.current, models.failed()))
    assert seen == [("first", NEXT_AFTER), ("second", NEXT_AFTER), ("third", 60_000), ("third", 60_000)]


def test_without_a_named_model_the_harness_chooses_and_is_tried_again() -> None:
    models = Models((), 60_000)
    assert (models.current, models.failed(), models.current) == (None, 60_000, None)


def test_the_tool_that_has_run_longest_sets_the_deadline() -> None:
    watchdog = Watchdog(1_000)
    assert deadline(watchdog) is None
    watchdog.began("a", "bash", 100)
    watchdog.began("b", "read", 300)
    watchdog.began("a", "bash", 900)  # told again: it began when it began
    assert deadline(watchdog) == 1_100
    assert (watchdog.overdue(1_099), watchdog.overdue(1_100)) == (None, "bash")
    watchdog.ended("a")
    watchdog.ended("never began")
    assert deadline(watchdog) == 1_300
    assert watchdog.overdue(1_300) == "read"
    watchdog.clear()
    assert deadline(watchdog) is None


def deadline(watchdog: Watchdog) -> int | None:
    return watchdog.deadline


def test_without_a_limit_no_tool_is_late() -> None:
    watchdog = Watchdog(0)
    watchdog.began("a", "bash", 0)
    assert (watchdog.deadline, watchdog.overdue(10**9)) == (None, None)
