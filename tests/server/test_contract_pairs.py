"""Two agents that only talk to each other are stopped over HTTP too; a ring is refused; facts and leases are told."""

from collections.abc import Callable
from typing import Any

import pytest

from peerline.core.agent import PERSON_PURPOSE
from tests.conftest import fresh_project
from tests.hub_process import Agent, HubProcess, Project

LIMIT = 2


@pytest.fixture
def braked(start_hub: Callable[..., HubProcess]) -> Project:
    hub = start_hub(KXM_PAIR_LIMIT=str(LIMIT))
    return Project(hub, "demo", hub.admin)


def held(project: Project) -> tuple[Agent, Agent, Any]:
    """Two agents, and a request between them that is held."""
    lead, reviewer = project.register("lead"), project.register("reviewer")
    for _ in range(LIMIT):
        assert "held" not in lead.send("reviewer")
    return lead, reviewer, lead.send("reviewer", idempotencyKey="k")


def go_on(agent: Agent, *names: str) -> Any:
    return agent.call("POST", "/v1/pairs/continue", {"agents": list(names)})


def test_a_held_request_is_accepted_kept_and_let_go_by_a_person(braked: Project) -> None:
    lead, reviewer, message = held(braked)
    assert message["status"] == "queued"
    assert message["held"].endswith("a person continues with: peerline continue lead reviewer")
    assert lead.get(message["id"])["heldAt"] == message["heldAt"]
    assert message["id"] not in [one["id"] for one in reviewer.inbox()]
    assert reviewer.acknowledge(message["id"]).code == "invalid_message_state"
    assert reviewer.reply(message["id"]).code == "invalid_message_state"
    (pair,) = lead.call("GET", "/v1/pairs").json["pairs"]
    assert ({end["name"] for end in pair["agents"]}, pair["held"]) == ({"lead", "reviewer"}, 1)
    assert go_on(lead, "lead", "reviewer").code == "person_only"

    ada = braked.register("ada", purpose=PERSON_PURPOSE)
    with reviewer.stream() as stream:
        answer = go_on(ada, "lead", "Reviewer")
        assert (answer.status, answer.json["released"]) == (200, 1)
        frames = [stream.next("message").message["id"] for _ in range(LIMIT + 1)]
    assert frames[-1] == message["id"]
    assert go_on(ada, "lead", "reviewer").json["released"] == 0
    assert lead.call("GET", "/v1/pairs").json == {"pairs": []}
    assert {"held", "heldAt"} & set(lead.get(message["id"])) == set()
    assert reviewer.reply(message["id"]).status == 200


def test_as_much_is_held_as_may_pass_and_then_the_sender_is_refused(braked: Project) -> None:
    lead, _, _ = held(braked)
    assert "held" in lead.send("reviewer")
    answer = lead.try_send("reviewer")
    assert (answer.status, answer.code, answer.json["nextAction"]) == (409, "pair_held", "ask_a_person_to_continue")


def test_a_held_request_outlasts_a_restart_of_the_hub(braked: Project) -> None:
    lead, reviewer, message = held(braked)
    braked.hub.stop()
    braked.hub.start()
    assert "held" in lead.get(message["id"])
    assert message["id"] not in [one["id"] for one in reviewer.inbox()]
    assert "held" in reviewer.send("lead")
    ada = braked.register("ada", model="person")
    assert go_on(ada, lead.id, reviewer.id).json["released"] == 2
    assert reviewer.inbox()[-1]["id"] == message["id"]


@pytest.mark.parametrize(
    "agents", [None, "lead", ["lead"], ["a", "b", "c"], ["lead", ""], ["lead", 7], ["x" * 81, "y"]]
)
def test_two_names_are_needed_to_go_on(project: Project, agents: object) -> None:
    ada = project.register("ada", purpose=PERSON_PURPOSE)
    answer = ada.call("POST", "/v1/pairs/continue", {"agents": agents})
    assert answer.refusal == (
        400,
        "protocol_error",
        "agents must be a list of 2 names or ids of agents, each of at most 80 characters",
    )


def test_only_agents_of_the_own_project_are_let_go(project: Project, lead: Agent) -> None:
    ada = project.register("ada", purpose=PERSON_PURPOSE)
    stranger = fresh_project(project.hub).register("stranger")
    assert go_on(ada, "lead", stranger.id).code == "target_not_found"
    assert go_on(ada, "lead", "lead").code == "self_target"


def test_a_chain_is_told_and_a_ring_refused(lead: Agent, reviewer: Agent, project: Project) -> None:
    fixer = project.register("fixer")
    first = lead.send("reviewer")
    assert "path" not in first
    second = reviewer.send("fixer", path=[lead.id, reviewer.id])
    assert (second["path"], fixer.inbox()[0]["path"]) == ([lead.id, reviewer.id], [lead.id, reviewer.id])
    answer = fixer.try_send("lead", path=[lead.id, reviewer.id, fixer.id])
    assert (answer.status, answer.code, answer.json["nextAction"]) == (400, "ring_detected", "answer_inbound")
    assert "lead -> reviewer -> fixer -> lead" in answer.json["error"]
    assert lead.inbox() == []


@pytest.mark.parametrize(
    "path", [7, "agt_1", ["a b"], ["a\nb"], [""], [None], ["x" * 81], ["x"] * 21, [["x"]], ["żółw"]]
)
def test_a_path_that_is_no_list_of_ids_is_refused(lead: Agent, reviewer: Agent, path: object) -> None:
    answer = lead.try_send("reviewer", path=path)
    text = "path must be a list of at most 20 agent ids, each of at most 80 characters"
    assert answer.refusal == (400, "protocol_error", text)
    assert reviewer.inbox() == []


@pytest.mark.parametrize("path", [None, [], ["x" * 80] * 20])
def test_no_path_and_a_long_one_are_taken(lead: Agent, reviewer: Agent, path: Any) -> None:
    assert lead.send("reviewer", path=path).get("path", []) == (path or [])
    assert reviewer.inbox()


def test_an_adapters_facts_stand_in_the_trail(lead: Agent, reviewer: Agent, project: Project) -> None:
    message_id = lead.send("reviewer")["id"]
    path = f"/v1/messages/{message_id}/facts"
    answer = reviewer.call("POST", path, {"fact": "announced", "adapter": "claude-code"})
    assert answer.status == 201
    assert answer.json["messageId"] == message_id
    assert {k: v for k, v in answer.json["fact"].items() if k != "at"} == {
        "fact": "announced",
        "observer": "reviewer",
        "detail": "by claude-code",
    }
    trail = lead.call("GET", f"/v1/messages/{message_id}/trail").json
    assert trail["standing"] == "announced to reviewer by claude-code, not yet in a turn"
    assert answer.json["fact"] in trail["facts"]
    reviewer.reply(message_id)
    assert lead.call("POST", path, {"fact": "in turn", "adapter": "codex"}).status == 201
    standing = lead.call("GET", f"/v1/messages/{message_id}/trail").json["standing"]
    assert standing == "replied by reviewer, and lead has the reply in a turn (codex)"
    third = project.register("third")
    assert third.call("POST", path, {"fact": "read", "adapter": "x"}).code == "message_forbidden"


def test_what_could_not_be_announced_says_why(lead: Agent, reviewer: Agent) -> None:
    message_id = lead.send("reviewer")["id"]
    told = {"fact": "not announced", "adapter": "claude-code", "reason": "the session has no channel"}
    assert reviewer.call("POST", f"/v1/messages/{message_id}/facts", told).status == 201
    trail = lead.call("GET", f"/v1/messages/{message_id}/trail").json
    assert trail["standing"] == "claude-code could not announce it to reviewer: the session has no channel"


@pytest.mark.parametrize(
    "body",
    [
        {"fact": "replied", "adapter": "x"},
        {"fact": None, "adapter": "x"},
        {"adapter": "x"},
        {"fact": "read"},
        {"fact": "read", "adapter": ""},
        {"fact": "read", "adapter": "x" * 65},
        {"fact": "read", "adapter": "a\u202eb"},
        {"fact": "read", "adapter": "x", "reason": "a\nb"},
        {"fact": "read", "adapter": "x", "reason": "x" * 201},
        {"fact": "read", "adapter": "x", "colour": "red"},
    ],
)
def test_a_fact_that_nobody_knows_is_refused(lead: Agent, reviewer: Agent, body: dict[str, object]) -> None:
    message_id = lead.send("reviewer")["id"]
    answer = reviewer.call("POST", f"/v1/messages/{message_id}/facts", body)
    assert (answer.status, answer.code) == (400, "protocol_error")


def test_the_list_of_leases_shows_what_is_held_now(lead: Agent, reviewer: Agent, project: Project) -> None:
    assert lead.call("GET", "/v1/leases").json == {"leases": []}
    made = [
        holder.call("POST", f"/v1/leases/{name}/acquire", {}).json["lease"]
        for holder, name in ((lead, "src%2Fb.py"), (reviewer, "src%2Fa.py"), (lead, "gone"))
    ]
    lead.call("POST", "/v1/leases/gone/release", {"fencingToken": made[2]["fencingToken"]})
    assert reviewer.call("GET", "/v1/leases").json == {"leases": [made[1], made[0]]}
    assert fresh_project(project.hub).register("other").call("GET", "/v1/leases").json == {"leases": []}
