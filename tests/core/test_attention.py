import pytest

from peerline.core.attention import Interruption, inbox_key, interruption
from peerline.core.post import Needs, Priority


def test_an_inbox_is_sorted_by_priority_and_then_as_it_came() -> None:
    came = [Priority.LOW, Priority.NORMAL, Priority.BLOCKING, Priority.HIGH, Priority.NORMAL]
    shown = sorted(range(len(came)), key=lambda arrival: inbox_key(came[arrival], arrival))
    assert shown == [2, 3, 1, 4, 0]


@pytest.mark.parametrize(
    ("needs", "priority", "thread", "wanted"),
    [
        ("human", "normal", "t", Interruption.HUMAN),
        ("human", "blocking", "mine", Interruption.HUMAN),
        ("agent", "blocking", "mine", Interruption.BLOCKING),
        ("agent", "normal", "mine", Interruption.THREAD),
        ("agent", "high", "t", None),
        ("none", "low", "t", None),
    ],
)
def test_what_is_worth_stopping_for(needs: str, priority: str, thread: str, wanted: Interruption | None) -> None:
    assert interruption(Needs(needs), Priority(priority), thread, {"mine"}) is wanted
