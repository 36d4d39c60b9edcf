"""What a token allows: patterns, preset, scope; and that one which cannot be read allows nothing."""

import json
from base64 import urlsafe_b64encode
from typing import Any

import pytest

from peerline.core.policy import READ_ONLY, Policy, Source, read_policy, session_token
from peerline.wire.tools import ALL, BY_NAME

NOW = 1_764_500_000_000
SESSION = Source("KXM_SESSION_TOKEN", False, "unset or replace KXM_SESSION_TOKEN")
ATTEMPT = Source("KXM_ATTEMPT_TOKEN", True, "unset or replace KXM_ATTEMPT_TOKEN")
ISSUED = "2025-11-30T10:00:00.000Z"


def token(value: object) -> str:
    return urlsafe_b64encode(json.dumps(value).encode()).decode().rstrip("=")


def session(**given: Any) -> dict[str, Any]:
    later = "2099-01-01T00:00:00.000Z"
    whole = {"schema": "kxm.session-token.v1", "sessionId": "s", "issuedAt": ISSUED, "expiresAt": later}
    return whole | given


def attempt(**given: Any) -> dict[str, Any]:
    names = ("stepId", "assignmentId", "attemptId", "agentId")
    whole = {"schema": "kxm.attempt-token.v1", "runId": "run_1", "stageId": "build", "issuedAt": ISSUED}
    return whole | dict.fromkeys(names, "x") | {"stepAttempt": 1, "attempt": 2} | given


def limited(source: Source = SESSION, **policy: Any) -> Policy:
    make = attempt if source.attempt else session
    return read_policy(token(make(toolPolicy=policy)), source, NOW)


def allowed(policy: Policy) -> set[str]:
    return {tool.name for tool in ALL if policy.denial(tool.name) is None}


def code(policy: Policy, tool: str, **arguments: Any) -> str:
    denial = policy.denial(tool, arguments)
    assert denial is not None
    assert denial.text.startswith("tool_policy_denied: ")
    assert denial.text.endswith(f"{policy.source.remedy}.")
    return denial.code


def test_a_token_without_a_policy_allows_every_tool() -> None:
    assert allowed(read_policy(token(session()), SESSION, NOW)) == set(BY_NAME)


def test_an_issued_token_holds_for_a_day_and_not_longer() -> None:
    issued = session_token("ses_1", NOW)
    assert allowed(read_policy(issued, SESSION, NOW + 86_399_000)) == set(BY_NAME)
    assert code(read_policy(issued, SESSION, NOW + 86_400_000), "kxm_list") == "session_token_invalid"


@pytest.mark.parametrize("pattern", ["kxm_list", "list", "mcp__kxm__kxm_list", "kxm_li*", "li*"])
def test_a_tool_is_named_by_its_full_name_its_own_a_bare_one_or_a_beginning(pattern: str) -> None:
    assert allowed(limited(allow=[pattern])) == {"kxm_list"}
    assert allowed(limited(allowedTools=[pattern])) == {"kxm_list"}
    assert allowed(limited(deny=[pattern])) == set(BY_NAME) - {"kxm_list"}


def test_a_star_is_every_tool_and_a_denial_wins() -> None:
    assert allowed(limited(allow=["*"], deniedTools=["kxm_send"])) == set(BY_NAME) - {"kxm_send"}
    assert allowed(limited(allow=["kxm_send"], deny=["*"])) == set()
    assert allowed(limited(allow=[])) == set(BY_NAME)


def test_the_read_only_preset_denies_what_changes_something() -> None:
    policy = limited(preset="read-only")
    assert allowed(policy) == set(BY_NAME) - READ_ONLY
    assert code(policy, "kxm_send") == "tool_policy_denied"
    assert {tool.name for tool in ALL if tool.reads} <= allowed(policy)


@pytest.mark.parametrize(
    "text",
    [
        "", "not base64 at all!", token([]), token({}), token(session(schema="other")), token(session(sessionId="")),
        token(session(issuedAt=None)), token(session(issuedAt="yesterday")), token(session(expiresAt=ISSUED)),
        token(session(expiresAt=None, issuedAt="2025-11-29T10:00:00Z")),
        token(session(toolPolicy=[])), token(session(toolPolicy={"preset": "x"})),
        token(session(toolPolicy={"allow": "kxm_list"})), token(session(toolPolicy={"deny": [1]})), "A" * 20_000,
    ],
)  # fmt: skip
def test_a_token_that_cannot_be_read_or_has_run_out_denies_every_tool(text: str) -> None:
    policy = read_policy(text, SESSION, NOW)
    assert allowed(policy) == set()
    assert code(policy, "kxm_list") == "session_token_invalid"


@pytest.mark.parametrize("lacking", ["runId", "stepId", "stepAttempt", "stageId", "attempt", "agentId", "issuedAt"])
def test_an_attempt_token_needs_all_its_members(lacking: str) -> None:
    policy = read_policy(token(attempt(**{lacking: None})), ATTEMPT, NOW)
    assert code(policy, "kxm_list") == "attempt_token_invalid"


def test_an_attempt_token_promotes_only_what_is_allowed_by_name() -> None:
    assert code(limited(ATTEMPT), "kxm_promote") == "attempt_token_admin_denied"
    assert limited(ATTEMPT, allow=["kxm_promote"]).denial("kxm_promote") is None
    assert limited(SESSION).denial("kxm_promote") is None


@pytest.mark.parametrize(
    "arguments",
    [{"runId": "run_2"}, {"stageId": "test"}, {"workflowRunId": "run_2"}, {"workflowContext": {"runId": "run_2"}}],
)
def test_an_attempt_token_is_for_its_own_run_and_stage(arguments: dict[str, Any]) -> None:
    policy = limited(ATTEMPT)
    assert code(policy, "kxm_send", **arguments) == "attempt_token_scope_violation"
    assert policy.denial("kxm_send", {"workflowContext": {"runId": "run_1", "stageId": "build"}}) is None
    assert policy.denial("kxm_send", {"target": "x"}) is None
