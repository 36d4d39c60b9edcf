"""The order in which a worker takes requests."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerline.worker.waiting import PATIENT, RANK, Waiting
from tests.worker.records import asked


def drained(waiting: Waiting) -> list[str]:
    order: list[str] = []
    while (first := waiting.first()) is not None:
        waiting.take(first.id)
        order.append(first.id)
    return order


@pytest.mark.requirement("MSG-PI-ORDER")
@given(st.lists(st.sampled_from(sorted(RANK)), max_size=20), st.randoms())
def test_steer_comes_first_and_next_turn_last_and_each_kind_as_it_was_sent(kinds: list[str], chance: object) -> None:
    sent = [asked(number, delivery=kind) for number, kind in enumerate(kinds)]
    came = list(sent)
    chance.shuffle(came)  # type: ignore[attr-defined]
    waiting = Waiting()
    for message in came:
        assert waiting.add(message)
    assert drained(waiting) == [one.id for one in sorted(sent, key=lambda one: (RANK[one.delivery], one.seq))]


def test_what_was_put_back_is_where_it_was() -> None:
    waiting = Waiting()
    for number in (1, 2, 3):
        waiting.add(asked(number))
    first = waiting.take("msg_1")
    assert first is not None
    waiting.put_back(first, lost=True)
    assert drained(waiting) == ["msg_1", "msg_2", "msg_3"]


def test_a_request_in_whose_turn_the_harness_is_lost_again_and_again_goes_last() -> None:
    waiting = Waiting()
    for number in (1, 2):
        waiting.add(asked(number, delivery="steer" if number == 1 else "nextTurn"))
    for _ in range(PATIENT):
        taken = waiting.take("msg_1")
        assert taken is not None
        waiting.put_back(taken, lost=True)
    assert waiting.losses("msg_1") == PATIENT
    assert drained(waiting) == ["msg_2", "msg_1"]


def test_what_comes_again_or_has_ended_is_not_taken_in() -> None:
    waiting = Waiting()
    assert waiting.add(asked(1))
    waiting.take("msg_1")
    assert not waiting.add(asked(1)), "a new stream offers what is in its turn once more"
    assert not waiting.add(asked(2, status="cancelled"))
    assert waiting.first() is None


def test_what_was_withdrawn_is_gone_and_only_a_steer_is_found_where_one_is_looked_for() -> None:
    waiting = Waiting()
    waiting.add(asked(1))
    assert waiting.first(only_steer=True) is None
    waiting.add(asked(2, delivery="steer"))
    steer = waiting.first(only_steer=True)
    assert steer is not None
    assert steer.id == "msg_2"
    waiting.drop("msg_2")
    assert drained(waiting) == ["msg_1"]
