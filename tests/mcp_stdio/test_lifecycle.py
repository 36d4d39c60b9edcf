"""How a session's server begins and ends: with its client, never after it."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.hub_process import KXM, PATIENCE_S, Agent, HubProcess, Project, Stream, environment
from tests.mcp_stdio.conftest import Open
from tests.mcp_stdio.session import AgentSession


def goes_offline(stream: Stream, name: str) -> None:
    while (found := stream.next("presence").data["agent"])["name"] != name or found["online"]:
        pass


@pytest.mark.parametrize("way", ["end of input", "SIGTERM", "SIGINT"])
def test_a_session_that_ends_leaves_the_hub_and_exits_with_0(open_session: Open, lead: Agent, way: str) -> None:
    with lead.stream() as stream:
        session = open_session("me")
        code = session.close() if way == "end of input" else session.signal(signal.Signals[way])
        assert code == 0
        goes_offline(stream, "me")
    assert session.stderr == ""


def test_a_session_ends_while_a_call_is_waiting(open_session: Open, lead: Agent) -> None:
    session = open_session("me")
    sent = session.call("kxm_send", target="lead", content="?")["messageId"]
    session.begin_call("kxm_await", messageId=sent)
    assert session.signal(signal.SIGTERM) == 0


@pytest.mark.parametrize("way", ["end of input", "SIGTERM"])
def test_a_client_that_leaves_before_it_has_said_anything_is_no_error(
    tmp_path: Path, sessions: list[AgentSession], way: str
) -> None:
    session = AgentSession(tmp_path / "user", None, "p")
    sessions.append(session.spawn())
    if way == "SIGTERM":
        session.answer(session.begin("ping"))  # so that it is there to hear the signal
        session.signal(signal.SIGTERM)
    else:
        session.close()
    assert (session.process.returncode, session.stderr) == (0, "")


PARENT = """
import subprocess, sys
child = subprocess.Popen(sys.argv[1:])
sys.stderr.write(f"{child.pid}\\n")
sys.stderr.flush()
child.wait()
"""


def test_a_server_whose_parent_is_killed_leaves_though_its_input_stays_open(
    tmp_path: Path, project: Project, lead: Agent
) -> None:
    env = environment(
        tmp_path / "user",
        KXM_SERVER_URL=project.hub.url,
        KXM_AUTH_TOKEN=project.token,
        KXM_PROJECT=project.name,
        KXM_AGENT_NAME="me",
    )
    with lead.stream() as stream:
        parent = subprocess.Popen(
            [sys.executable, "-c", PARENT, *KXM, "mcp"],
            env=env,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        assert parent.stdin is not None and parent.stdout is not None and parent.stderr is not None  # noqa: PT018
        server = int(parent.stderr.readline())
        try:
            hello = {"protocolVersion": "2025-11-25", "clientInfo": {"name": "pi"}}
            for line in (
                {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello},
                {"jsonrpc": "2.0", "method": "notifications/initialized"},
                {"jsonrpc": "2.0", "id": 2, "method": "tools/call", "params": {"name": "kxm_list"}},
            ):
                parent.stdin.write(json.dumps(line).encode() + b"\n")
            parent.stdin.flush()
            assert [json.loads(parent.stdout.readline())["id"] for _ in range(2)] == [1, 2]
            parent.kill()
            parent.wait(PATIENCE_S)
            assert parent.stdout.read() == b""  # until the server itself has ended
            goes_offline(stream, "me")
        finally:
            for pipe in (parent.stdin, parent.stdout, parent.stderr):
                pipe.close()
            try:
                os.kill(server, signal.SIGKILL)
            except ProcessLookupError:
                pass


StartHub = Callable[..., HubProcess]


def test_a_session_that_began_without_a_hub_is_on_it_soon_after_it_has_started(
    start_hub: StartHub, tmp_path: Path, sessions: list[AgentSession]
) -> None:
    hub = start_hub()
    port = str(hub.address[1])
    hub.stop()
    session = AgentSession(tmp_path / "user", hub, "p", KXM_AGENT_NAME="me")
    sessions.append(session.open())
    assert "hub not reachable" in session.refused("kxm_list")
    again = HubProcess(hub.home, KXM_PORT=port).start()
    try:
        lead = Project(again, "p", again.admin).register("lead")
        with lead.stream() as stream:
            agents = lead.call("GET", "/v1/agents").json["agents"]
            while "me" not in [agent["name"] for agent in agents]:
                agents = [stream.next("presence").data["agent"]]
    finally:
        again.stop()


def test_on_ones_own_machine_nobody_types_a_token(
    start_hub: StartHub, tmp_path: Path, sessions: list[AgentSession]
) -> None:
    hub = start_hub()
    session = AgentSession(hub.home, None, "p", KXM_SERVER_URL=hub.url, KXM_AGENT_NAME="me")
    sessions.append(session.open())
    assert [agent["name"] for agent in session.call("kxm_list")["agents"]] == ["me"]


def test_without_a_token_the_hub_is_not_contacted_and_the_next_step_is_named(
    start_hub: StartHub, tmp_path: Path, sessions: list[AgentSession]
) -> None:
    hub = start_hub()
    session = AgentSession(tmp_path / "user", None, "secret-project", KXM_SERVER_URL=hub.url)
    sessions.append(session.open())
    text = session.refused("kxm_inbox")
    for part in ("secret-project", "/plugin configure kxm@kxm", "KXM_PROJECT_TOKENS", "not contacted"):
        assert part in text


def test_a_token_that_the_hub_refuses_is_named_as_such_and_not_repeated(
    start_hub: StartHub, tmp_path: Path, sessions: list[AgentSession]
) -> None:
    hub = start_hub()
    wrong = "not-the-right-token-0001"
    session = AgentSession(tmp_path / "user", hub, "p", KXM_AUTH_TOKEN=wrong)
    sessions.append(session.open())
    text = session.refused("kxm_inbox")
    assert "rejected the project token" in text
    assert wrong not in text
    assert session.close() == 0
    assert wrong not in session.stderr


@pytest.mark.skipif(sys.platform != "linux", reason="reads a process's memory map")
def test_a_session_with_a_hub_on_this_machine_carries_no_openssl(open_session: Open) -> None:
    session = open_session("me")
    maps = Path(f"/proc/{session.process.pid}/maps").read_text()
    assert "libssl" not in maps
    assert "libcrypto" not in maps


@pytest.mark.parametrize("store", ["kept", "lost"])
def test_on_ones_own_machine_a_restarted_hub_is_found_again_with_its_tokens_or_without(
    start_hub: StartHub, sessions: list[AgentSession], store: str
) -> None:
    hub = start_hub(**({} if store == "kept" else {"KXM_DATA_PATH": ":memory:"}))
    session = AgentSession(hub.home, None, "p", KXM_SERVER_URL=hub.url, KXM_AGENT_NAME="me")
    sessions.append(session.open())
    session.call("kxm_list")
    hub.stop(signal.SIGKILL)
    assert f"hub not reachable at {hub.url}" in session.refused("kxm_list")
    variables = {"KXM_PORT": str(hub.address[1])} | ({} if store == "kept" else {"KXM_DATA_PATH": ":memory:"})
    again = HubProcess(hub.home, **variables).start()
    try:
        lead = Project(again, "p", again.admin).register("lead")
        with lead.stream() as stream:
            agents = lead.call("GET", "/v1/agents").json["agents"]
            while "me" not in [agent["name"] for agent in agents]:
                agents = [stream.next("presence").data["agent"]]
        assert len(session.call("kxm_list")["agents"]) == 2
        lead.send("me", "there?")
        assert session.push()["meta"]["from_agent"] == "lead"
    finally:
        again.stop()
