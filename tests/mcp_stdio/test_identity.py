"""Who a session is: the same after a crash, another one beside a living namesake, known to the shells within."""

import json
import os
import signal
import subprocess
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.hub_process import KXM, Agent, HubProcess, Project
from tests.mcp_stdio.conftest import Open
from tests.mcp_stdio.session import AgentSession


def agent_id(session: AgentSession) -> str:
    return next(str(agent["id"]) for agent in session.call("kxm_list")["agents"] if agent.get("you"))


def agent_name(session: AgentSession) -> str:
    return next(str(agent["name"]) for agent in session.call("kxm_list")["agents"] if agent.get("you"))


@pytest.mark.requirement("MSG-STATE-DELIVERED-CLAUDE-RESTART", "MSG-TROUBLE-DELIVERED-CLAUDE")
def test_after_a_kill_the_next_session_is_the_same_agent_at_once_with_what_it_took(
    open_session: Open, lead: Agent
) -> None:
    first = open_session("me")
    was = agent_id(first)
    taken = lead.send("me", "unfinished")["id"]
    first.push()
    assert first.signal(signal.SIGKILL) == -signal.SIGKILL
    again = open_session("me")
    assert (agent_id(again), again.stderr) == (was, "")
    pushed = again.push()
    assert pushed["meta"]["message_id"] == taken
    assert "│ unfinished" in pushed["content"]
    assert again.call("kxm_reply", messageId=taken, content="done")["status"] == "replied"


def test_commands_of_the_same_user_do_not_cost_a_session_its_name(open_session: Open, project: Project) -> None:
    first = open_session("me")
    was = agent_id(first)

    def command(_: int) -> int:
        return subprocess.run([*KXM, "peer", "list"], env=first.env, capture_output=True, check=False).returncode

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(command, range(8))) == [0] * 8
    first.signal(signal.SIGKILL)
    assert agent_id(open_session("me")) == was


@pytest.mark.requirement("MSG-NAME-CLAUDE-PID")
def test_a_second_session_under_one_name_gets_another_and_is_told_so(open_session: Open, project: Project) -> None:
    first = open_session("me")
    second = AgentSession(first.home, project.hub, project.name, KXM_AGENT_NAME="me", KXM_AUTH_TOKEN=project.token)
    second.open()
    try:
        fallback = f"me-{second.process.pid}"
        line = f"kxm: agent name me is already active in project {project.name}; this session registers as {fallback}"
        assert fallback in second.introduction["instructions"]
        texts = [block["text"] for block in second.result("kxm_list")["content"]]
        assert texts[-1] == line
        assert agent_name(second) == fallback
        assert len(second.result("kxm_list")["content"]) == 1  # told once
        assert agent_name(first) == "me"
        assert second.close() == 0
        assert second.stderr == line + "\n"
    finally:
        second.stop()


def test_a_name_that_is_live_on_another_machine_is_left_to_it(open_session: Open, project: Project) -> None:
    project.register("me")
    session = open_session("me")
    assert agent_name(session) == f"me-{session.process.pid}"


def test_a_name_is_free_again_when_its_session_has_left(open_session: Open) -> None:
    first = open_session("me")
    was = agent_id(first)
    assert first.close() == 0
    second = open_session("me")
    assert (agent_id(second), agent_name(second)) == (was, "me")


def test_a_session_without_a_name_is_called_after_its_repository_and_branch(
    tmp_path: Path, project: Project, sessions: list[AgentSession]
) -> None:
    home = tmp_path / "user"
    git = home / "shop" / ".git"
    git.mkdir(parents=True)
    (git / "HEAD").write_text("ref: refs/heads/feature/cart\n")
    session = AgentSession(home, project.hub, project.name, CLAUDE_PROJECT_DIR=os.fspath(home / "shop"))
    sessions.append(session)
    assert agent_name(session.open()) == "shop-feature-cart"


def record(session: AgentSession, session_id: str) -> Path:
    return Path(session.env["KXM_STATE_HOME"]) / "sessions" / f"{session_id}.json"


def test_the_sessions_record_tells_hooks_and_shells_who_it_is(open_session: Open, project: Project) -> None:
    session = open_session("me", CLAUDE_CODE_SESSION_ID="c0ffee-1")
    path = record(session, "c0ffee-1")
    value = json.loads(path.read_text())
    key = value.pop("agentKey")
    assert value == {
        "schema": "kxm.session-record.v1",
        "sessionId": "c0ffee-1",
        "client": "claude-code",
        "pid": session.process.pid,
        "project": project.name,
        "name": "me",
        "url": project.hub.url,
        "socket": None,
        "agentId": agent_id(session),
    }
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700
    inbox = project.hub.call(
        "GET",
        f"/v1/agents/{value['agentId']}/inbox",
        headers={**project.bearer, "x-kxm-agent-id": value["agentId"], "x-kxm-agent-key": key},
    )
    assert inbox.status == 200
    assert session.close() == 0
    assert not path.exists()


def test_codex_names_its_thread_with_a_call_and_its_record_follows(open_session: Open) -> None:
    session = open_session("me")
    for thread in ("0199-a", "0199-b"):
        session.result("kxm_list", {"x-codex-turn-metadata": {"thread_id": thread, "turn_id": "t"}})
        assert [path.name for path in record(session, thread).parent.glob("*.json")] == [f"{thread}.json"]
    session.result("kxm_list", {"x-codex-turn-metadata": {"thread_id": "../../escape"}})
    assert list(record(session, "x").parent.glob("*.json")) == []


StartHub = Callable[..., HubProcess]


def test_a_restarted_hub_is_found_again_and_what_came_meanwhile_is_pushed(
    start_hub: StartHub, tmp_path: Path, sessions: list[AgentSession]
) -> None:
    hub = start_hub()
    port = str(hub.address[1])
    session = AgentSession(tmp_path / "user", hub, "p", KXM_AGENT_NAME="me")
    sessions.append(session)
    was = agent_id(session.open())
    hub.stop(signal.SIGKILL)
    assert "hub not reachable" in session.refused("kxm_list")
    again = HubProcess(hub.home, KXM_PORT=port).start()
    try:
        lead = Project(again, "p", again.admin).register("lead")
        sent = lead.send("me", "welcome back", allowOffline=True)["id"]
        assert session.push()["meta"]["message_id"] == sent
        assert agent_id(session) == was
    finally:
        again.stop()


def test_a_hub_with_an_empty_store_is_joined_anew(
    start_hub: StartHub, tmp_path: Path, sessions: list[AgentSession]
) -> None:
    hub = start_hub(KXM_DATA_PATH=":memory:")
    session = AgentSession(tmp_path / "user", hub, "p", KXM_AGENT_NAME="me", CLAUDE_CODE_SESSION_ID="s")
    sessions.append(session)
    was = agent_id(session.open())
    port = str(hub.address[1])
    hub.stop()
    again = HubProcess(hub.home, KXM_PORT=port, KXM_DATA_PATH=":memory:").start()
    try:
        lead = Project(again, "p", again.admin).register("lead")
        now = agent_id(session)
        assert now != was
        lead.send("me", "hello")
        assert session.push()["meta"]["from_agent"] == "lead"
        assert json.loads(record(session, "s").read_text())["agentId"] == now
    finally:
        again.stop()
