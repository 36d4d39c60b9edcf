"""`kxm mcp` in a session that a worker supervises: it acts as the worker's agent and takes no requests."""

import json
from pathlib import Path

import pytest

from tests.hub_process import Agent, Project
from tests.mcp_stdio.session import AgentSession


@pytest.fixture
def builder(project: Project) -> Agent:
    return project.register("builder")


def seat(folder: Path, project: Project, builder: Agent, active: object = None) -> Path:
    path = folder / "seat.json"
    told = {
        "schema": "kxm.worker-seat.v1", "url": project.hub.url, "project": project.name, "name": "builder",
        "agentId": builder.id, "agentKey": builder.key, "active": active,
    }  # fmt: skip
    path.write_text(json.dumps(told))
    path.chmod(0o600)
    return path


def a_session(tmp_path: Path, project: Project, path: Path) -> AgentSession:
    variables = {"KXM_AUTH_TOKEN": project.token, "KXM_AGENT_NAME": "another", "KXM_WORKER_SEAT": str(path)}
    return AgentSession(tmp_path / "user", project.hub, "elsewhere", **variables).open()


def test_it_is_the_workers_agent_without_an_inbox_of_its_own(tmp_path: Path, project: Project, builder: Agent) -> None:
    lead = project.register("lead")
    session = a_session(tmp_path, project, seat(tmp_path, project, builder))
    try:
        names = {tool["name"] for tool in session.ask("tools/list")["tools"]}
        assert "kxm_send" in names
        assert not {"kxm_inbox", "kxm_reply"} & names
        assert "You are supervised" in session.introduction["instructions"]
        agents = session.call("kxm_list")["agents"]
        assert [agent["id"] for agent in agents if agent.get("you")] == [builder.id]
        assert [agent["name"] for agent in agents].count("builder") == 1
        sent = lead.send("builder", "for the worker")["id"]
        session.call("kxm_list")
        assert lead.get(sent)["status"] == "queued", "the worker's to take"
        assert session.pushed == []
    finally:
        session.stop()
    assert builder.call("POST", f"/v1/agents/{builder.id}/heartbeat", {}).status == 200, "the worker's key lives on"


def test_what_it_sends_goes_one_hop_past_the_request_at_hand(tmp_path: Path, project: Project, builder: Agent) -> None:
    lead, helper = project.register("lead"), project.register("helper")
    active = {"id": "msg_1", "from": lead.id, "hops": 2, "maxHops": 4, "path": ["agt_far", lead.id]}
    path = seat(tmp_path, project, builder, active)
    session = a_session(tmp_path, project, path)
    try:
        session.call("kxm_send", target="helper", content="because of msg_1")
        seat(tmp_path, project, builder)
        session.call("kxm_send", target="helper", content="by itself")
    finally:
        session.stop()
    forwarded, own = helper.inbox()
    assert (forwarded["hops"], forwarded["maxHops"], forwarded["path"]) == (3, 4, ["agt_far", lead.id, builder.id])
    assert (own["hops"], own["maxHops"], own["from"]) == (0, 5, builder.id)


def test_without_the_workers_key_it_does_not_take_the_name(tmp_path: Path, project: Project, builder: Agent) -> None:
    builder.leave()
    path = tmp_path / "seat.json"
    path.write_text(json.dumps({"url": project.hub.url, "project": project.name, "name": "builder"}))
    path.chmod(0o600)
    session = a_session(tmp_path, project, path)
    try:
        assert "worker of this session is not on the hub yet" in session.refused("kxm_list")
    finally:
        session.stop()
    assert project.register("builder", resume=builder.key).registered.json["resumed"]
