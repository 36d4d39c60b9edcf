"""The conversation itself: what a client may say, and that nothing else is on stdout."""

import json
from pathlib import Path

import pytest

from tests.mcp_stdio.conftest import Open
from tests.mcp_stdio.session import AgentSession


@pytest.fixture
def alone(tmp_path: Path, sessions: list[AgentSession]) -> AgentSession:
    """A session whose hub is not there."""
    session = AgentSession(tmp_path / "user", None, "p", KXM_SERVER_URL="http://127.0.0.1:9", KXM_AUTH_TOKEN="t" * 20)
    sessions.append(session)
    return session.spawn()


def test_the_newer_era_is_refused_and_the_older_one_follows_on_one_connection(alone: AgentSession) -> None:
    refused = alone.answer(alone.begin("server/discover", {"_meta": {}}))
    assert refused["error"]["code"] == -32601
    assert alone.ask("initialize", alone.hello("2025-06-18"))["protocolVersion"] == "2025-06-18"
    again = alone.answer(alone.begin("server/discover"))
    assert again["error"]["code"] == -32601


def test_spoilt_lines_are_answered_and_the_conversation_goes_on(alone: AgentSession) -> None:
    for _ in range(2):  # before the handshake and behind it
        for line in (b"\xff\xfe\n", b"{\n", b"\n", b"[1]\n", b'{"jsonrpc":"2.0","method":"x","params":3}\n'):
            alone.write(line)
        codes = [alone.answer(None)["error"]["code"] for _ in range(4)]
        assert codes == [-32700, -32700, -32600, -32602]
        assert alone.ask("initialize", alone.hello())["serverInfo"]["name"] == "kxm"
        alone.notify("notifications/initialized")
    assert alone.ask("ping") == {}


def test_what_is_asked_before_the_handshake_is_refused_by_name(alone: AgentSession) -> None:
    early = alone.answer(alone.begin("tools/list"))
    assert early["error"] == {"code": -32600, "message": "initialize comes first"}
    assert alone.ask("ping") == {}


def test_all_that_a_client_says_at_once_is_answered(alone: AgentSession) -> None:
    lines = [
        {"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": alone.hello()},
        {"jsonrpc": "2.0", "method": "notifications/initialized"},
        {"jsonrpc": "2.0", "id": 2, "method": "tools/list"},
        {"jsonrpc": "2.0", "id": 3, "method": "nothing/there"},
    ]
    data = b"\n".join(json.dumps(line).encode() for line in lines)
    alone.write(data)
    alone.write(b"\n")
    assert alone.answer(1)["result"]["serverInfo"]["name"] == "kxm"
    assert len(alone.answer(2)["result"]["tools"]) == 10
    assert alone.answer(3)["error"] == {"code": -32601, "message": "method not found: nothing/there"}


def test_a_hub_that_is_away_is_named_with_the_next_step_and_the_session_goes_on(alone: AgentSession) -> None:
    alone.ask("initialize", alone.hello())
    alone.notify("notifications/initialized")
    text = alone.refused("kxm_list")
    for part in ("http://127.0.0.1:9", "ECONNREFUSED", "kxm hub start", "/plugin configure kxm@kxm"):
        assert part in text
    assert "t" * 20 not in text
    assert len(alone.ask("tools/list")["tools"]) == 10


def test_a_setting_that_does_not_fit_is_told_on_stderr_alone(tmp_path: Path, sessions: list[AgentSession]) -> None:
    session = AgentSession(tmp_path / "user", None, "p", KXM_TOOLS="some")
    sessions.append(session)
    assert session.spawn().ended() == 2
    assert "KXM_TOOLS must be core or all" in session.stderr


def test_a_client_that_only_looks_leaves_no_trace_on_stderr(open_session: Open) -> None:
    session = open_session("me")
    session.ask("tools/list")
    assert session.close() == 0
    assert session.stderr == ""
