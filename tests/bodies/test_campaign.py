"""A hundred thousand bodies made by chance: one opening line, one closing line, and every character back."""

import pytest

from tests.core.fence_breakers import BREAKERS
from tests.core.generated_bodies import generated
from tests.core.reported_bodies import REPORTED
from tests.core.test_fence import holds

SEEDS = range(10)
EACH = 10_000


@pytest.mark.slow
@pytest.mark.parametrize("seed", SEEDS)
def test_no_body_of_a_hundred_thousand_leaves_its_frame(seed: int) -> None:
    for body in generated(seed, EACH):
        holds(body)


def test_the_first_of_them_and_those_that_were_reported() -> None:
    for body in (*generated(0, 1_000), *REPORTED.values()):
        holds(body)


def test_a_seed_always_gives_the_same_bodies_and_another_one_others() -> None:
    first = list(generated(1, 200))
    assert first == list(generated(1, 200))
    assert len(set(first) & set(generated(2, 200))) < 100
    made = "".join(first)
    assert all(mark in made for mark in ("╰─ ", "⟨U+", "\x1b", "\u202e", "\ufe0f"))
    assert any(body in made for body in BREAKERS.values())
