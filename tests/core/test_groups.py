from typing import Any

import pytest

from peerline.core.groups import group_fault

ID = "01M8NZR3XVZK0P3M99YTFG63X7"
TASK: dict[str, Any] = {
    "task_id": ID,
    "task_state": "open",
    "task_action": "created",
    "task_creator": "alice",
    "task_title": "Close it",
    "task_target": "bob",
    "task_stale_after_seconds": 86_400,
}
REVIEW: dict[str, Any] = {
    "review_id": ID,
    "review_state": "requested",
    "review_requester": "alice",
    "review_reviewer": "bob",
    "review_repo": "github.com/acme/payments",
    "review_base_rev": "1" * 40,
    "review_head_rev": "2" * 64,
    "review_scope": ["src/a.py"],
    "review_deadline": "2027-01-01T00:00:00Z",
}
CLAIM: dict[str, Any] = {
    "claim_id": ID,
    "claim_resource": "core/social:graph",
    "claim_action": "held",
    "claim_holder": "alice",
    "claim_ttl_seconds": 900,
}


@pytest.mark.parametrize("group", [{}, TASK, REVIEW, CLAIM, TASK | CLAIM, REVIEW | {"review_scope": None}])
def test_a_whole_group_is_accepted(group: dict[str, Any]) -> None:
    assert group_fault(group) is None


@pytest.mark.parametrize("group", [TASK, REVIEW, CLAIM])
def test_a_group_without_one_of_its_needed_members_is_broken(group: dict[str, Any]) -> None:
    optional = {"task_target", "task_assignee", "task_stale_after_seconds", "review_scope", "review_deadline"}
    for name in group.keys() - optional:
        assert group_fault({key: value for key, value in group.items() if key != name}) == f"{name} is missing"


@pytest.mark.parametrize(
    ("group", "change"),
    [
        (TASK, {"task_id": "1"}),
        (TASK, {"task_state": "done"}),
        (TASK, {"task_action": "done"}),
        (TASK, {"task_title": "two\nlines"}),
        (TASK, {"task_title": "t" * 201}),
        (TASK, {"task_stale_after_seconds": 59}),
        (TASK, {"task_stale_after_seconds": True}),
        (TASK, {"task_assignee": "bob"}),
        (TASK, {"task_state": "claimed"}),
        (TASK, {"task_state": "completed", "task_assignee": "carol"}),
        (REVIEW, {"review_reviewer": "alice"}),
        (REVIEW, {"review_repo": "github.com/../x"}),
        (REVIEW, {"review_head_rev": "2" * 41}),
        (REVIEW, {"review_scope": ["/etc"]}),
        (REVIEW, {"review_scope": ["a/../../b"]}),
        (REVIEW, {"review_scope": "src"}),
        (REVIEW, {"review_deadline": "2027-01-01T00:00:00+01:00"}),
        (CLAIM, {"claim_resource": "a b"}),
        (CLAIM, {"claim_ttl_seconds": 29}),
        (CLAIM, {"claim_ttl_seconds": 900.5}),
        (CLAIM, REVIEW | TASK),
    ],
)
def test_a_broken_group_says_which_member(group: dict[str, Any], change: dict[str, Any]) -> None:
    fault = group_fault(group | change)
    assert fault
    assert next(iter(change)).partition("_")[0] in fault
