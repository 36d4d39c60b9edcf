"""Buckets count what they say, and recording one value stays far below what a request costs."""

import pytest

from peerline.core.histogram import Histogram


@pytest.mark.parametrize(
    ("value", "cumulative"), [(0.5, (1, 1, 1)), (1.0, (1, 1, 1)), (1.5, (0, 1, 1)), (2.0, (0, 1, 1)), (9.0, (0, 0, 1))]
)
def test_a_value_counts_for_every_bound_that_it_does_not_exceed(value: float, cumulative: tuple[int, ...]) -> None:
    histogram = Histogram((1.0, 2.0))
    histogram.record(value)
    assert histogram.read() == ((1.0, 2.0), cumulative, value)


def test_values_add_up() -> None:
    histogram = Histogram((1.0, 2.0))
    for value in (0.5, 1.5, 7.0):
        histogram.record(value)
    assert histogram.read() == ((1.0, 2.0), (1, 2, 3), 9.0)
