"""Arguments of tool calls, refused in the contract's words."""

from typing import Any

import pytest

from peerline.core.errors import Invalid
from peerline.tools.arguments import checked
from peerline.wire.tools import BY_NAME

CONTEXT = {"runId": "r", "stageId": "s", "requirementKey": "k", "attempt": 1}


@pytest.mark.parametrize(
    ("tool", "given", "text"),
    [
        ("kxm_send", {"content": "x"}, "target is required"),
        ("kxm_send", {"target": "", "content": "x"}, "target is required"),
        ("kxm_send", {"target": "a", "content": None}, "content is required"),
        ("kxm_send", {"target": 1, "content": "x"}, "target must be a string"),
        ("kxm_send", {"target": "a", "content": "x", "ttl": 1}, "unknown argument: ttl"),
        (
            "kxm_send",
            {"target": "a", "content": "x", "delivery": "now"},
            "delivery must be steer, followUp, or nextTurn",
        ),
        (
            "kxm_send",
            {"target": "a", "content": "x", "ttlMs": 999},
            "ttlMs must be an integer between 1000 and 604800000",
        ),
        (
            "kxm_send",
            {"target": "a", "content": "x", "ttlMs": True},
            "ttlMs must be an integer between 1000 and 604800000",
        ),
        ("kxm_send", {"target": "a", "content": "x", "allowOffline": 1}, "allowOffline must be true or false"),
        (
            "kxm_send",
            {"target": "a", "content": "x", "workflowContext": CONTEXT | {"attempt": 21}},
            "workflowContext.attempt must be an integer between 1 and 20",
        ),
        (
            "kxm_send",
            {"target": "a", "content": "x", "workflowContext": {"runId": "r"}},
            "workflowContext.stageId is required",
        ),
        ("kxm_fanout", {"targets": [], "content": "x"}, "targets must hold 1 to 3 entries"),
        ("kxm_fanout", {"targets": ["a", 2], "content": "x"}, "targets must be a string"),
        ("kxm_await", {"messageId": "m", "timeoutMs": 99}, "timeoutMs must be an integer of at least 100"),
        ("kxm_inbox", {"x": 1}, "unknown argument: x"),
        ("kxm_inbox", [], "arguments must be an object"),
    ],
)
def test_what_does_not_fit_is_refused_by_name(tool: str, given: Any, text: str) -> None:
    with pytest.raises(Invalid) as refused:
        checked(BY_NAME[tool], given)
    assert refused.value.text == text


def test_nulls_and_no_arguments_count_as_left_out() -> None:
    assert checked(BY_NAME["kxm_list"], None) == {}
    assert checked(BY_NAME["kxm_list"], {"includeOffline": None}) == {}
    assert checked(BY_NAME["kxm_await"], {"messageId": "m", "timeoutMs": 10**9}) == {
        "messageId": "m",
        "timeoutMs": 10**9,
    }
