from hypothesis import given
from hypothesis import strategies as st

from peerline.client.backoff import LONGEST_S, pause_s


def test_pauses_double_up_to_a_bound() -> None:
    assert [pause_s(tries, 0.5) for tries in range(8)] == [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, 2.5, 2.5]


@given(st.integers(min_value=0, max_value=10**6), st.floats(min_value=0, max_value=1, exclude_max=True))
def test_a_pause_is_anywhere_from_none_to_the_bound(tries: int, chance: float) -> None:
    assert 0 <= pause_s(tries, chance) < LONGEST_S
