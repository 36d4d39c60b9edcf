from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from peerline.core.ulid import Ulids, is_ulid, ulid_ms


def zeros(count: int) -> bytes:
    return bytes(count)


def test_an_id_begins_with_its_moment() -> None:
    assert Ulids(lambda: 1_796_034_269_115, zeros).next() == "01M8NZR3XV0000000000000000"
    assert ulid_ms("01M8NZR3XVZK0P3M99YTFG63X7") == 1_796_034_269_115


@given(st.lists(st.integers(0, 2**48 + 5), min_size=2, max_size=50))
def test_ids_rise_strictly_whatever_the_clock_does(moments: list[int]) -> None:
    clock = iter(moments)
    ids = Ulids(lambda: next(clock), lambda count: b"\xff" * count)
    made = [ids.next() for _ in moments]
    assert all(before < after for before, after in pairwise(made))
    assert all(is_ulid(one) for one in made)


def test_ten_thousand_ids_of_one_millisecond_differ_and_rise() -> None:
    ids = Ulids(lambda: 1, zeros)
    made = [ids.next() for _ in range(10_000)]
    assert sorted(set(made)) == made
    assert {ulid_ms(one) for one in made} == {1}


def test_only_the_alphabet_and_the_length_make_a_ulid() -> None:
    good = "01M8NZR3XVZK0P3M99YTFG63X7"
    assert is_ulid(good)
    assert not any(is_ulid(bad) for bad in ("", good[:-1], good + "0", good.lower(), "I" + good[1:], good + "\n"))
