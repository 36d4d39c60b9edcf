"""The three groups of members that make a post an event of a task, a review or a claim (spec/network.md 4.1, 11).

Only the shape is judged here: whether an event is allowed after the events before it is for who reduces them.
"""

from collections.abc import Callable, Mapping
from typing import Final

from peerline.core.identifiers import is_agent_id, is_object_id, is_repository, is_resource
from peerline.core.ulid import is_ulid

TASK_STATES: Final = ("open", "claimed", "in_progress", "blocked", "stuck", "completed", "cancelled")
TASK_FINAL: Final = frozenset({"completed", "cancelled"})
TASK_ACTIONS: Final = (
    "created", "refined", "retargeted", "claimed", "started", "progressed", "blocked", "stuck", "released",
    "completed", "cancelled", "reopened",
)  # fmt: skip
REVIEW_STATES: Final = (
    "requested", "claimed", "reviewing", "reported", "discussing", "needs_human", "blocked", "completed", "expired",
    "cancelled",
)  # fmt: skip
CLAIM_ACTIONS: Final = ("held", "released")

_OWNED: Final = frozenset({"claimed", "in_progress", "blocked", "stuck", "completed"})

Check = Callable[[object], bool]


def _text(check: Callable[[str], bool]) -> Check:
    return lambda value: isinstance(value, str) and check(value)


def _one_of(*allowed: str) -> Check:
    return lambda value: isinstance(value, str) and value in allowed


def _whole(least: int, most: int) -> Check:
    return lambda value: isinstance(value, int) and not isinstance(value, bool) and least <= value <= most


def _title(text: str) -> bool:
    return text.strip() != "" and len(text) <= 200 and "\n" not in text and "\r" not in text


def _scope(value: object) -> bool:
    return isinstance(value, list) and all(isinstance(path, str) and _relative(path) for path in value)


def _relative(path: str) -> bool:
    return bool(path) and not path.startswith("/") and "\\" not in path and ".." not in path.split("/")


def _utc(text: str) -> bool:
    return len(text) >= 11 and text.endswith("Z")


_ulid, _agent = _text(is_ulid), _text(is_agent_id)

# In the order in which they are written; the second member says whether the group is broken without it.
MEMBERS: Final[dict[str, tuple[Check, bool]]] = {
    "review_id": (_ulid, True),
    "review_state": (_one_of(*REVIEW_STATES), True),
    "review_requester": (_agent, True),
    "review_reviewer": (_agent, True),
    "review_repo": (_text(is_repository), True),
    "review_base_rev": (_text(is_object_id), True),
    "review_head_rev": (_text(is_object_id), True),
    "review_scope": (_scope, False),
    "review_deadline": (_text(_utc), False),
    "task_id": (_ulid, True),
    "task_state": (_one_of(*TASK_STATES), True),
    "task_action": (_one_of(*TASK_ACTIONS), True),
    "task_creator": (_agent, True),
    "task_title": (_text(_title), True),
    "task_target": (_agent, False),
    "task_assignee": (_agent, False),
    "task_stale_after_seconds": (_whole(60, 31_536_000), False),
    "claim_id": (_ulid, True),
    "claim_resource": (_text(is_resource), True),
    "claim_action": (_one_of(*CLAIM_ACTIONS), True),
    "claim_holder": (_agent, True),
    "claim_ttl_seconds": (_whole(30, 86_400), True),
}


def group_fault(groups: Mapping[str, object]) -> str | None:
    """What is wrong with the group members of a post; None if nothing is. A member that is None counts as absent."""
    if not groups:
        return None
    present = {name.partition("_")[0] for name, value in groups.items() if value is not None}
    if {"review", "task"} <= present:
        return "a post is an event of a review or of a task, never of both"
    for name, (check, required) in MEMBERS.items():
        if name.partition("_")[0] not in present:
            continue
        value = groups.get(name)
        if value is None:
            if required:
                return f"{name} is missing"
        elif not check(value):
            return f"{name} is not acceptable"
    return _task_fault(groups) or _review_fault(groups)


def _task_fault(groups: Mapping[str, object]) -> str | None:
    state, target, assignee = (groups.get(f"task_{name}") for name in ("state", "target", "assignee"))
    if state in _OWNED and assignee is None:
        return f"a task that is {state} needs task_assignee"
    if state == "open" and assignee is not None:
        return "an open task has no task_assignee"
    if target is not None and assignee is not None and target != assignee:
        return "task_target and task_assignee differ"
    return None


def _review_fault(groups: Mapping[str, object]) -> str | None:
    requester = groups.get("review_requester")
    if requester is not None and requester == groups.get("review_reviewer"):
        return "review_requester and review_reviewer are the same agent"
    return None
