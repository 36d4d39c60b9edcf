"""What does arrive, by every adapter and route: `peerline why` says so, and no surface calls it stuck."""

from typing import Any

import pytest

from tests.truth import arrivals_of_replies, arrivals_of_requests
from tests.truth.case import Arrival
from tests.truth.scene import Scene, trail
from tests.truth.score import PROPERTY

CASES = [*arrivals_of_requests.ARRIVALS, *arrivals_of_replies.ARRIVALS]


def test_there_are_forty_different_ones() -> None:
    assert len({case.bring for case in CASES}) == len(CASES) >= 40


@pytest.mark.parametrize("case", CASES, ids=str)
def test_what_arrives_is_told_as_that_and_never_called_stuck(scene: Scene, case: Arrival, record_property: Any) -> None:
    record_property(PROPERTY, "arrived")
    message_id = case.bring(scene)
    why = case.why
    for name, value in scene.found.items():
        why = why.replace(name, value)

    told = trail(scene.end_of("lead"), message_id)
    assert (told["standing"], told["next"], told["stuck"]) == (why, case.next, False)
    assert told["message"]["status"] == case.status
    listed = scene.why()
    assert message_id not in [one["id"] for one in listed["standing"]]
    moving = {one["id"]: one["cause"] for one in listed["moving"]}
    assert moving.get(message_id) == (None if case.status == "replied" else why)
