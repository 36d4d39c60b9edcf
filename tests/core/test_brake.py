"""How much two agents may say to each other before a person looks."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerline.core.brake import MOST_PAIRS, Brake, held, pair, release
from peerline.core.ids import AgentId

ANN, BOB, CAT = AgentId("agt_a"), AgentId("agt_b"), AgentId("agt_c")


def test_so_many_pass_in_a_window_whoever_of_the_two_sends() -> None:
    brake = Brake(3, 100)
    ends = [(ANN, BOB), (BOB, ANN)]
    assert [brake.passes(*ends[now % 2], now) for now in range(5)] == [True, True, True, False, False]
    assert brake.passes(ANN, CAT, 5)


def test_the_window_slides_and_what_was_stopped_does_not_count() -> None:
    brake = Brake(2, 100)
    assert [brake.passes(ANN, BOB, now) for now in (0, 50, 60, 99)] == [True, True, False, False]
    assert brake.passes(ANN, BOB, 100)
    assert not brake.passes(ANN, BOB, 101)
    assert brake.passes(ANN, BOB, 150)


def test_a_persons_turn_with_one_of_them_counts_anew() -> None:
    brake = Brake(1, 100)
    assert brake.passes(ANN, BOB, 0)
    brake.turn(CAT)
    assert not brake.passes(ANN, BOB, 1)
    brake.turn(BOB)
    assert brake.passes(ANN, BOB, 2)


def test_a_held_pair_stays_held_until_it_is_let_go() -> None:
    brake = Brake(1, 100)
    brake.held.add(pair(BOB, ANN))
    brake.turn(ANN)
    assert not brake.passes(ANN, BOB, 10_000)
    brake.clear(ANN, BOB)
    assert brake.passes(BOB, ANN, 10_000)


@given(st.lists(st.integers(0, 1_000), min_size=1, max_size=60), st.integers(1, 5))
def test_no_window_ever_lets_more_than_the_limit_pass(steps: list[int], limit: int) -> None:
    brake, now, passed = Brake(limit, 500), 0, list[int]()
    for step in steps:
        now += step
        if brake.passes(ANN, BOB, now):
            passed.append(now)
        assert sum(1 for at in passed if at > now - 500) <= limit
    assert passed[0] == steps[0]


def test_however_many_pairs_talk_memory_stays_bounded() -> None:
    brake = Brake(2, 1_000_000)
    for number in range(2 * MOST_PAIRS):
        assert brake.passes(AgentId(f"agt_{number}"), AgentId("agt_x"), number)
        assert len(brake) <= MOST_PAIRS


def test_pairs_that_fell_silent_make_room_before_those_that_talk() -> None:
    brake = Brake(1, 100)
    for number in range(MOST_PAIRS):
        brake.passes(AgentId(f"agt_{number}"), BOB, number)
    busy = AgentId(f"agt_{MOST_PAIRS - 1}")
    assert brake.passes(ANN, CAT, MOST_PAIRS)
    assert len(brake) < 200
    assert not brake.passes(busy, BOB, MOST_PAIRS)


@pytest.mark.parametrize("name", ["$(reboot)", "a b", "--json", "`x`", "name\\", "żółw", "a;b", ""])
def test_a_name_that_a_shell_reads_otherwise_is_not_printed_to_be_pasted(name: str) -> None:
    assert release((ANN, name), (BOB, "bob-2.x")) == "peerline continue agt_a bob-2.x"
    assert name in held(name, "bob")
