"""What does not arrive, staged with the real parts: no surface tells it as arrived, and `peerline why` gives the cause
and the next step, word for word those of the table."""

import json
from typing import Any

import pytest

from tests.hub_process import Agent
from tests.truth import refused, stops_at_the_hub, stops_in_a_session, stops_of_replies
from tests.truth.case import Deaf, Refusal, Stop
from tests.truth.scene import Scene, trail
from tests.truth.score import PROPERTY

STOPS = [*stops_at_the_hub.STOPS, *stops_in_a_session.STOPS, *stops_of_replies.STOPS]
CASES: list[Stop | Refusal | Deaf] = [*STOPS, *refused.REFUSALS, *refused.DEAF]
# What only one who has it can have done with it; `read` of a reply is its asker's.
ARRIVED = {"read", "outcome read", "in turn"}


def test_there_are_forty_different_ones() -> None:
    assert len({case.name for case in CASES}) == len(CASES) >= 40
    told = {(case.why, case.next) for case in CASES}
    assert len(told) >= 35, "what is told differs with the cause"


@pytest.mark.parametrize("case", STOPS, ids=str)
def test_what_stands_still_is_told_with_its_cause_and_its_next_step(
    scene: Scene, case: Stop, record_property: Any
) -> None:
    record_property(PROPERTY, "stopped")
    message_id = case.bring(scene)
    words = {"ID": message_id, **scene.found}
    right = (_filled(case.why, words), _filled(case.next, words))

    (listed,) = [one for one in scene.why()["standing"] if one["id"] == message_id] or [None]
    if case.status == "cancelled":
        assert listed is None, "nobody has to do anything about it"
    else:
        assert listed["cause"] == right[0]
        step = right[1] if case.status != "expired" else right[1] + " --as lead"
        if case.status != "replied":
            assert listed["next"] == step[:1].upper() + step[1:]
        else:
            assert listed["next"] == f"Read it with `peerline why {message_id}`"

    lead = scene.end_of("lead")
    told = trail(lead, message_id)
    assert (told["standing"], told["next"]) == right
    assert told["stuck"] is (case.status != "cancelled")
    # A turn that its user has to let go on has begun all the same.
    begun = {"in turn"} if "in a turn of" in case.why else set()
    over = {"outcome read"} if case.status == "expired" else set()  # the sender knows that
    assert {fact["fact"] for fact in told["facts"]} & ARRIVED <= begun | over
    assert [one["status"] for one in _listed(lead, "all") if one["id"] == message_id] == [case.status]
    assert (message_id in [one["id"] for one in _listed(lead, "unread")]) is (case.status == "replied")
    _told_by_its_tool(scene, message_id, case.status, right)


@pytest.mark.parametrize("case", refused.REFUSALS, ids=str)
def test_what_was_refused_is_told_with_its_cause_and_its_next_step(
    request: pytest.FixtureRequest, scene: Scene, case: Refusal, record_property: Any
) -> None:
    if case.small_disk:
        scene.found["small disk"] = str(request.getfixturevalue("small_disk"))
    record_property(PROPERTY, "stopped")
    case.bring(scene)
    why = scene.why()
    (told,) = why["refused"]
    assert told["between"] == "you asked reviewer"
    assert told["cause"].startswith("refused: " + _filled(case.why, {"PROJECT": scene.project.name}))
    assert (told["next"], told["code"]) == (case.next[:1].upper() + case.next[1:], case.code)


@pytest.mark.parametrize("case", refused.DEAF, ids=str)
def test_where_the_hub_says_nothing_why_says_why(scene: Scene, case: Deaf, record_property: Any) -> None:
    record_property(PROPERTY, "stopped")
    case.bring(scene)
    line = scene.shell("lead").refused("why")
    assert case.why in line
    assert case.next in line


def test_a_refusal_is_over_once_something_else_has_gone_to_the_same_agent(scene: Scene) -> None:
    lead = scene.agent("lead")
    for _ in range(3):
        lead.try_send("reviewer")
    assert [one["cause"].partition(":")[0] for one in scene.why()["refused"]] == ["refused (3 times)"]
    scene.agent("reviewer")
    lead.send("Reviewer")
    assert scene.why()["refused"] == []


def test_what_expired_is_over_once_it_was_sent_again(scene: Scene) -> None:
    expired = stops_at_the_hub.expired_untaken(scene)
    assert expired in [one["id"] for one in scene.why()["standing"]]
    scene.peer("lead", "resend", expired)
    assert expired not in [one["id"] for one in scene.why()["standing"]]


def test_the_commands_tell_it_in_the_same_words(scene: Scene) -> None:
    message_id = stops_in_a_session.without_monitor(scene)
    right = _filled(stops_in_a_session.told("mcp:claude-code", stops_in_a_session.NO_MONITOR), {})
    traced = scene.peer("lead", "trace", message_id)
    why = scene.why("lead", message_id)
    assert traced["standing"] == why["standing"] == right
    assert traced["next"] == why["next"] == stops_in_a_session.LATER
    assert (traced["stuck"], why["stuck"]) == (True, True)


def test_asking_why_is_no_reading(scene: Scene) -> None:
    """Whoever lists what waits for an agent has not read it for that agent."""
    lead, reviewer = scene.agent("lead"), scene.agent("reviewer")
    asked = reviewer.send("lead")["id"]
    scene.why()
    scene.shell("lead").says("list")
    assert "read" not in {fact["fact"] for fact in trail(reviewer, asked)["facts"]}
    scene.shell("lead").says("inbox")
    assert "read" in {fact["fact"] for fact in trail(lead, asked)["facts"]}


def _told_by_its_tool(scene: Scene, message_id: str, status: str, right: tuple[str, str]) -> None:
    """`kxm_get` of the sender's own session; of a reply it is the reading itself, so that it comes last."""
    session = scene.own_session("lead")
    result = session.result("kxm_get", messageId=message_id)
    record = json.loads(result["content"][0]["text"])
    assert record["status"] == status
    if status != "replied":
        assert (record["standing"], record["next"]) == right


def _listed(agent: Agent, state: str) -> Any:
    return agent.call("GET", f"/v1/messages?state={state}").json["messages"]


def _filled(text: str, words: dict[str, str]) -> str:
    for name, value in words.items():
        text = text.replace(name, value)
    return text
