"""Who may call what (spec/hub.md 3.3), and which refusal wins."""

import pytest

from tests.conftest import LISTED, fresh_project
from tests.hub_process import Agent, Answer, HubProcess, Project

WRONG = {"authorization": "Bearer not-the-token"}


def refused_for_its_token(answer: Answer) -> bool:
    extras = {"operation": "other", "nextAction": "check_project_token"}
    return answer.refusal == (401, "invalid_auth", "invalid project authentication token") and (
        extras.items() <= answer.json.items()
    )


@pytest.mark.parametrize("value", ["", "Bearer", "Bearer ", "Bearer wrong", "Basic abc", "wrong"])
def test_a_registration_without_the_projects_token_is_refused(project: Project, value: str) -> None:
    answer = project.hub.call(
        "POST", "/v1/agents/register", {"name": "lead", "project": project.name}, {"authorization": value}
    )
    assert refused_for_its_token(answer)


def test_the_scheme_bearer_is_read_in_any_case(project: Project) -> None:
    body = {"name": "lead", "project": project.name}
    headers = {"authorization": f"bearer {project.token}"}
    assert project.hub.call("POST", "/v1/agents/register", body, headers).status == 201


def test_fields_are_judged_before_the_token(project: Project) -> None:
    answer = project.hub.call("POST", "/v1/agents/register", {"name": "", "project": project.name}, WRONG)
    assert answer.refusal == (400, "protocol_error", "name cannot be empty")


@pytest.mark.requirement("MSG-SETUP-SAME-PROJECT")
def test_a_listed_project_takes_its_own_token_only(hub_process: HubProcess) -> None:
    own = Project(hub_process, "listed-a", LISTED["listed-a"])
    assert own.try_register("credential-check").status in (200, 201)
    for token in (LISTED["listed-b"], hub_process.admin):
        assert refused_for_its_token(Project(hub_process, "listed-a", token).try_register("credential-check-2"))


def test_an_unlisted_project_takes_the_admin_token_and_no_other_projects(project: Project) -> None:
    assert project.try_register("lead").status == 201
    other = Project(project.hub, project.name, LISTED["listed-a"])
    assert refused_for_its_token(other.try_register("second"))


@pytest.mark.parametrize(
    "headers",
    [
        {"x-kxm-agent-id": "agt_" + "0" * 32},
        {"x-kxm-agent-id": ""},
        {"x-kxm-agent-key": "key_" + "0" * 32},
        {"x-kxm-agent-key": ""},
        {"x-kxm-agent-key": "x", "authorization": "Bearer wrong"},
    ],
)
def test_an_identity_that_does_not_hold_is_refused_before_the_token_is_looked_at(
    lead: Agent, headers: dict[str, str]
) -> None:
    answer = lead.call("GET", "/v1/agents", headers=headers)
    assert answer.refusal == (401, "invalid_agent_identity", "invalid agent identity")
    assert answer.json["nextAction"] == "reconnect_with_current_agent_key"


def test_an_identity_that_holds_still_needs_the_projects_token(lead: Agent) -> None:
    assert refused_for_its_token(lead.call("GET", "/v1/agents", headers=WRONG))
    assert refused_for_its_token(lead.call("GET", "/v1/agents", headers={"authorization": ""}))


def test_one_agents_key_does_not_open_another_agents_paths(lead: Agent, reviewer: Agent) -> None:
    for method, path in (("POST", "heartbeat"), ("GET", "inbox")):
        answer = lead.call(method, f"/v1/agents/{reviewer.id}/{path}")
        assert (answer.status, answer.code) == (401, "invalid_agent_identity")
    assert lead.call("DELETE", f"/v1/agents/{reviewer.id}").code == "invalid_agent_identity"
    assert {agent["name"] for agent in lead.call("GET", "/v1/agents").json["agents"]} == {"lead", "reviewer"}


def test_a_message_is_refused_for_its_identity_before_its_fields(lead: Agent) -> None:
    answer = lead.call("POST", "/v1/messages", {"target": ""}, {"x-kxm-agent-key": "wrong"})
    assert answer.code == "invalid_agent_identity"


@pytest.mark.parametrize("path", ["/metrics", "/v1/ops/snapshot?project=p", "/v1/ops/events?project=p"])
@pytest.mark.parametrize("token", ["", "Bearer wrong", f"Bearer {LISTED['listed-a']}"])
def test_what_is_the_administrators_refuses_others(hub_process: HubProcess, path: str, token: str) -> None:
    answer = hub_process.call("GET", path, headers={"authorization": token})
    assert answer.refusal == (401, "invalid_auth", "invalid administrative authentication token")


def test_a_refused_call_does_not_bring_an_agent_back_online(lead: Agent, reviewer: Agent) -> None:
    reviewer.leave()
    assert reviewer.call("GET", "/v1/agents", headers=WRONG).status == 401
    assert [agent["name"] for agent in lead.call("GET", "/v1/agents").json["agents"]] == ["lead"]


def test_a_call_that_holds_brings_an_agent_back_online(lead: Agent, reviewer: Agent) -> None:
    with lead.stream() as stream:
        reviewer.leave()
        gone = stream.next("presence").data
        assert (gone["agent"]["name"], gone["agent"]["presence"]) == ("reviewer", "offline")
        assert reviewer.call("POST", f"/v1/agents/{reviewer.id}/heartbeat", {}).status == 200
        back = stream.next("presence").data
        assert (back["agent"]["name"], back["agent"]["presence"]) == ("reviewer", "online")


@pytest.mark.requirement("MSG-VISIBILITY")
def test_projects_do_not_see_each_other(hub_process: HubProcess) -> None:
    here, there = fresh_project(hub_process), fresh_project(hub_process)
    mine, other = here.register("lead"), there.register("reviewer")
    assert [agent["id"] for agent in mine.call("GET", "/v1/agents?includeOffline=true").json["agents"]] == [mine.id]
    for target in ("reviewer", other.id):
        assert mine.try_send(target, allowOffline=True).code == "target_not_found"
