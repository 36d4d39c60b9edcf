"""What does not arrive on another machine: the trail and `peerline why` say why and what to do, word for word."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.conftest import fresh_project
from tests.gateway.hub import joined
from tests.gateway.stage import Hub as Sessions
from tests.gateway.stage import Stage, stage
from tests.hub_process import HubProcess
from tests.network.nodes import founded, node
from tests.network.remotes import BareRemote
from tests.truth.far_scene import FarScene
from tests.truth.scene import Scene, trail
from tests.truth.score import PROPERTY
from tests.truth.stops_across_machines import STOPS, FarStop

ARRIVED = {"read", "in turn", "in turn there"}


@pytest.fixture
def far(tmp_path: Path, start_hub: Callable[..., HubProcess]) -> Iterator[FarScene]:
    project = fresh_project(start_hub())
    remote = BareRemote(tmp_path / "remote.git")
    scene = Scene(tmp_path, project, start_hub)
    lead, other = scene.agent("lead"), scene.agent("other")
    line = joined(project.hub, tmp_path / "gateway")
    here, sessions = stage(tmp_path, remote, line.sessions), Sessions()
    founded(remote, "carol", rooms=())
    here.alice.sync()
    here.bob = node(tmp_path, remote, "bob", "build", now=here.now)
    there = Stage(tmp_path / "bobs-home", here.bob, here.alice, sessions)
    made = FarScene(scene, line, here, there, sessions, remote, lead, other)
    yield made
    if not made.left:
        made.leave()
    scene.end()


def test_there_are_twenty_different_ones() -> None:
    assert len({case.name for case in STOPS}) == len(STOPS) >= 20
    assert len({(case.why, case.next) for case in STOPS}) >= 17, "what is told differs with the cause"


@pytest.mark.requirement("RELAY-NO-FALSE-DELIVERY")
@pytest.mark.parametrize("case", STOPS, ids=str)
def test_why_it_stops_is_told(far: FarScene, case: FarStop, record_property: Any) -> None:
    record_property(PROPERTY, "stopped")
    request = case.bring(far)
    told = trail(far.lead, request)
    assert _same(told["standing"], case.why)
    assert told["next"] == case.next.replace("ID", request)
    assert told["stuck"] is (case.status != "cancelled")
    assert told["message"]["status"] == case.status
    assert {fact["fact"] for fact in told["facts"]} & ARRIVED == set()
    by = {fact["observer"] for fact in told["facts"] if fact["fact"] in ("acknowledged", "replied")}
    assert by <= {"komnet-gateway"}, "nobody there has taken or answered it"
    listed = [one for one in far.scene.why()["standing"] if one["id"] == request]
    if case.status == "cancelled":
        assert listed == [], "nobody has to do anything about it"
    else:
        assert _same(listed[0]["cause"], case.why)


def _same(told: str, right: str) -> bool:
    """`…` stands for what Git says, which is another text with each version."""
    start, cut, _ = right.partition("…")
    return len(told) > len(start) and told.startswith(start) if cut else told == right
