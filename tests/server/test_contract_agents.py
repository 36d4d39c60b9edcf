"""Registering, listing, leaving and coming back (spec/hub.md 3.5, 3.7; identity and sessions: decision 6)."""

import re
from datetime import datetime

import pytest

from peerline.core.agent import Agent as Record
from peerline.core.ids import AgentId
from tests.hub_process import Agent, Project

TIME = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z")
MEMBERS = {"id", "name", "purpose", "project", "connectedAt", "lastSeenAt", "online", "leaseExpiresAt", "presence"}


def names(agent: Agent, query: str = "") -> list[str]:
    answer = agent.call("GET", f"/v1/agents{query}")
    assert answer.status == 200
    return sorted(found["name"] for found in answer.json["agents"])


def moment(text: str) -> datetime:
    assert TIME.fullmatch(text), text
    return datetime.fromisoformat(text)


@pytest.mark.requirement("MSG-LIST-FIELDS", "MSG-PRESENCE-ONLINE")
def test_a_first_registration_is_201_with_the_whole_record(project: Project) -> None:
    answer = project.try_register("Reviewer", purpose="reads diffs", model="opus", host="box1")
    agent = answer.json["agent"]
    assert answer.status == 201
    assert set(answer.json) >= {"agent", "agentKey", "resumed"}
    assert answer.json["resumed"] is False
    assert set(agent) == MEMBERS | {"model", "host"}
    assert re.fullmatch(r"agt_[0-9a-f]{32}", agent["id"])
    assert re.fullmatch(r"key_[0-9a-f]{32}", answer.json["agentKey"])
    assert (agent["name"], agent["purpose"], agent["model"], agent["host"]) == (
        "Reviewer", "reads diffs", "opus", "box1",
    )  # fmt: skip
    assert (agent["project"], agent["online"], agent["presence"]) == (project.name, True, "online")


def test_a_lease_ends_thirty_seconds_after_the_agent_was_last_seen(lead: Agent) -> None:
    agent = lead.registered.json["agent"]
    assert (moment(agent["leaseExpiresAt"]) - moment(agent["lastSeenAt"])).total_seconds() == 30
    assert moment(agent["connectedAt"]) <= moment(agent["lastSeenAt"])


def test_a_heartbeat_returns_the_agent_and_renews_its_lease(lead: Agent) -> None:
    answer = lead.call("POST", f"/v1/agents/{lead.id}/heartbeat", {})
    assert answer.status == 200
    before = lead.registered.json["agent"]
    assert moment(answer.json["agent"]["lastSeenAt"]) >= moment(before["lastSeenAt"])
    assert answer.json["agent"]["connectedAt"] == before["connectedAt"]
    assert "agentKey" not in answer.body.decode()


@pytest.mark.requirement("MSG-NAME-UNIQUE", "MSG-ERR-DUPLICATE-NAME")
@pytest.mark.parametrize("name", ["reviewer", "REVIEWER", " Reviewer "])
def test_a_second_live_registration_of_a_name_is_refused(project: Project, reviewer: Agent, name: str) -> None:
    answer = project.try_register(name)
    assert answer.refusal == (409, "duplicate_agent_name", f"agent name already active in project: {name.strip()}")
    assert reviewer.call("GET", "/v1/agents").status == 200


def test_the_same_name_in_two_projects_is_two_agents(project: Project) -> None:
    other = Project(project.hub, f"{project.name}-too", project.token)
    assert project.register("lead").id != other.register("lead").id


@pytest.mark.requirement("MSG-STATE-QUEUED-AGENT-RESTART")
def test_an_offline_name_comes_back_with_its_id_and_a_new_key(project: Project, lead: Agent) -> None:
    old = project.register("reviewer", purpose="reads", model="opus", host="box1")
    message = lead.send("reviewer")
    old.leave()
    answer = project.try_register("REVIEWER")
    assert (answer.status, answer.json["resumed"]) == (200, True)
    agent = answer.json["agent"]
    assert (agent["id"], agent["name"], agent["purpose"]) == (old.id, "REVIEWER", "General-purpose Pi agent")
    assert not {"model", "host"} & set(agent)
    assert answer.json["agentKey"] != old.key
    assert old.call("GET", "/v1/agents").code == "invalid_agent_identity"
    back = Agent(project, old.id, "REVIEWER", answer.json["agentKey"], answer)
    assert [found["id"] for found in back.inbox()] == [message["id"]]


def test_leaving_is_204_without_a_body_and_shows_the_agent_offline(lead: Agent, reviewer: Agent) -> None:
    answer = reviewer.call("DELETE", f"/v1/agents/{reviewer.id}")
    assert (answer.status, answer.body, answer.header("content-length")) == (204, b"", None)
    assert names(lead) == ["lead"]


@pytest.mark.requirement("MSG-LIST-ONLINE", "MSG-LIST-INCLUDE-OFFLINE", "MSG-PRESENCE-OFFLINE")
def test_the_list_shows_who_is_online_and_the_others_only_when_asked(lead: Agent, reviewer: Agent) -> None:
    assert names(lead) == ["lead", "reviewer"]
    reviewer.leave()
    assert names(lead) == ["lead"]
    assert names(lead, "?includeOffline=false") == ["lead"]
    answer = lead.call("GET", "/v1/agents?includeOffline=true")
    assert {agent["name"]: agent["presence"] for agent in answer.json["agents"]} == {
        "lead": "online",
        "reviewer": "offline",
    }
    assert [agent["online"] for agent in answer.json["agents"] if agent["name"] == "reviewer"] == [False]


def test_no_answer_but_the_registrations_holds_a_key(lead: Agent, reviewer: Agent) -> None:
    text = lead.call("GET", "/v1/agents").body.decode()
    assert lead.key not in text
    assert reviewer.key not in text


@pytest.mark.parametrize("name", ["a/b", "a@b", "a\nb", "a\x1b[2Jb", "a\u202eb", "a\u200bb", "a\x7fb", "a\u2028b"])
def test_a_name_that_could_fake_a_line_or_an_address_is_refused(project: Project, name: str) -> None:
    answer = project.try_register(name)
    assert (answer.status, answer.code) == (400, "protocol_error")


@pytest.mark.parametrize("name", ["human", "System", "ADMIN"])
def test_a_reserved_name_is_refused(project: Project, name: str) -> None:
    assert project.try_register(name).status in (400, 403)


def test_a_name_may_hold_spaces_and_letters_of_any_script(project: Project) -> None:
    assert project.register("Prüferin Nr. 2 – 審查").registered.status == 201


def test_a_key_of_the_live_agent_opens_a_second_session_beside_the_first(project: Project, reviewer: Agent) -> None:
    answer = project.try_register("reviewer", resume=reviewer.key)
    assert answer.status == 200
    assert answer.json["agent"]["id"] == reviewer.id
    second = Agent(project, reviewer.id, "reviewer", answer.json["agentKey"], answer)
    assert second.key != reviewer.key
    assert reviewer.inbox() == second.inbox() == []


def test_an_agent_is_online_while_any_of_its_sessions_is(project: Project, lead: Agent, reviewer: Agent) -> None:
    answer = project.try_register("reviewer", resume=reviewer.key)
    second = Agent(project, reviewer.id, "reviewer", answer.json["agentKey"], answer)
    second.leave()
    assert names(lead) == ["lead", "reviewer"]
    reviewer.leave()
    assert names(lead) == ["lead"]


@pytest.mark.parametrize("resume", ["key_" + "0" * 32, "nonsense", "  "])
def test_a_key_that_is_not_the_live_agents_opens_no_session(project: Project, reviewer: Agent, resume: str) -> None:
    assert project.try_register("reviewer", resume=resume).code == "duplicate_agent_name"


def test_another_agents_key_opens_no_session(project: Project, lead: Agent, reviewer: Agent) -> None:
    assert project.try_register("reviewer", resume=lead.key).code == "duplicate_agent_name"


def test_of_two_sessions_the_first_acknowledgement_takes_the_work(
    project: Project, lead: Agent, reviewer: Agent
) -> None:
    answer = project.try_register("reviewer", resume=reviewer.key)
    second = Agent(project, reviewer.id, "reviewer", answer.json["agentKey"], answer)
    with reviewer.stream() as one, second.stream() as two:
        message = lead.send("reviewer")
        assert one.next("message").message["id"] == two.next("message").message["id"] == message["id"]
    first, again = reviewer.acknowledge(message["id"]), second.acknowledge(message["id"])
    assert (first.json["first"], again.json["first"]) == (True, False)
    assert first.json["message"] == again.json["message"]


@pytest.mark.requirement("MSG-PRESENCE-OFFLINE")
def test_the_others_are_told_of_presence_and_the_subject_is_not(project: Project, lead: Agent) -> None:
    with lead.stream() as stream:
        other = project.register("reviewer")
        frame = stream.next("presence")
        assert (frame.data["type"], frame.data["agent"]["id"]) == ("presence", other.id)
        other.leave()
        assert stream.next("presence").data["agent"]["presence"] == "offline"
        assert {seen.data["agent"]["id"] for seen in stream.seen if seen.kind == "presence"} == {other.id}


@pytest.mark.requirement("MSG-PRESENCE-STALE")
def test_an_agent_whose_lease_ran_out_is_stale_until_it_is_swept() -> None:
    agent = Record(AgentId("agt_1"), "demo", "lead", "", None, None, None, connected_at=0, last_seen_at=1_000)
    assert agent.presence(True, 30_999, 30_000) == "online"
    assert agent.presence(True, 31_000, 30_000) == "stale"
    assert agent.presence(False, 31_000, 30_000) == "offline"


def test_an_agent_may_name_its_branch_and_each_new_start_names_it_anew(project: Project) -> None:
    writer = project.register("writer", branch="fix/login")
    assert writer.registered.json["agent"]["branch"] == "fix/login"
    writer.leave()
    assert "branch" not in project.register("writer").registered.json["agent"]
    assert project.try_register("other", branch="x" * 129).refusal[1] == "protocol_error"
