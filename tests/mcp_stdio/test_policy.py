"""Tokens that limit a session's tools: what the model reads, and that nobody is reached whom it cannot answer."""

import json
from base64 import urlsafe_b64encode
from pathlib import Path

from tests.hub_process import Agent, Project
from tests.mcp_stdio.conftest import Open
from tests.mcp_stdio.session import AgentSession

VALID = {"schema": "kxm.session-token.v1", "sessionId": "s", "issuedAt": "2026-01-01T00:00:00Z"}


def token(**given: object) -> str:
    return urlsafe_b64encode(json.dumps({**VALID, "expiresAt": "2099-01-01T00:00:00Z"} | given).encode()).decode()


def test_a_denied_tool_says_so_and_the_others_work(open_session: Open) -> None:
    me = open_session("me", KXM_SESSION_TOKEN=token(toolPolicy={"preset": "read-only"}))
    refused = me.refused("kxm_send", target="x", content="y")
    assert refused.startswith("tool_policy_denied: the token in KXM_SESSION_TOKEN does not allow kxm_send.")
    assert refused.endswith("unset or replace KXM_SESSION_TOKEN.")
    assert me.call("kxm_list")["agents"]


def test_an_invalid_token_blocks_every_tool_and_names_its_variable(
    tmp_path: Path, project: Project, sessions: list[AgentSession]
) -> None:
    me = AgentSession(tmp_path / "u", project.hub, project.name, KXM_SESSION_TOKEN="broken", KXM_AGENT_NAME="me")
    sessions.append(me)
    assert me.open().refused("kxm_list").startswith("tool_policy_denied: session_token_invalid: ")
    assert "me" not in names(project.register("lead"))


def test_an_expired_token_on_disk_blocks_until_it_is_cleared(open_session: Open, tmp_path: Path) -> None:
    folder = tmp_path / "config"
    folder.mkdir()
    me = open_session("me", KXM_USER_CONFIG_DIR=str(folder))
    saved = folder / "session.token"
    saved.write_text(token(expiresAt="2026-01-02T00:00:00Z"))
    refused = me.refused("kxm_list")
    assert "has expired" in refused
    assert refused.endswith("`kxm session token --clear` removes it.")
    saved.unlink()
    assert me.call("kxm_list")["agents"]


def test_a_session_that_may_not_answer_does_not_come_before_its_first_tool(
    tmp_path: Path, project: Project, sessions: list[AgentSession]
) -> None:
    lead = project.register("lead")
    limits = token(toolPolicy={"deny": ["kxm_reply"]})
    variables = {"KXM_SESSION_TOKEN": limits, "KXM_AGENT_NAME": "me", "KXM_AUTH_TOKEN": project.token}
    me = AgentSession(tmp_path / "u", project.hub, project.name, **variables)
    sessions.append(me)
    me.open().ask("tools/list")
    assert "me" not in names(lead)
    me.call("kxm_list")
    assert "me" in names(lead)


def names(agent: Agent) -> list[str]:
    return [one["name"] for one in agent.call("GET", "/v1/agents").json["agents"]]
