"""Threads: their order, the thread of a reply, how many agents' posts in a row (spec/network.md 3.11, 4.2, 4.4)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Final, Protocol, TypeVar

from peerline.core.groups import TASK_FINAL
from peerline.core.post import AuthorKind, Post

if TYPE_CHECKING:
    from peerline.core.post_draft import PostDraft

REPLY_BUDGET: Final = 12


class Linked(Protocol):
    """What an order needs of a post."""

    @property
    def id(self) -> str: ...

    @property
    def in_reply_to(self) -> str | None: ...


_Linked = TypeVar("_Linked", bound=Linked)


def thread_order(posts: Iterable[_Linked]) -> list[_Linked]:
    """Each reply under its parent, siblings and roots by id; a post whose parent is not among them is a root.

    A ring of replies, which only a forger can make, comes last, by id.
    """
    known = {post.id: post for post in posts}
    children: dict[str | None, list[_Linked]] = {}
    for post in sorted(known.values(), key=lambda one: one.id):
        parent = post.in_reply_to if post.in_reply_to in known and post.in_reply_to != post.id else None
        children.setdefault(parent, []).append(post)
    ordered: list[_Linked] = []
    stack = children.get(None, [])[::-1]
    while stack:
        post = stack.pop()
        ordered.append(post)
        stack += children.get(post.id, [])[::-1]
    if len(ordered) < len(known):
        placed = {post.id for post in ordered}
        ordered += [post for post in sorted(known.values(), key=lambda one: one.id) if post.id not in placed]
    return ordered


def reply_thread(explicit: str | None, in_reply_to: str | None, parent: Post | None) -> str | None:
    """The thread of a post: what was asked for, else its parent's, else the parent itself; None: it opens its own."""
    return explicit or (parent.thread if parent else in_reply_to)


def agents_in_a_row(thread: Sequence[Post]) -> int:
    """How many posts, counted back from the end of a thread in thread order, follow a person's last word."""
    count = 0
    for post in reversed(thread):
        if post.author is AuthorKind.HUMAN:
            break
        count += 1
    return count


def budget_spent(draft: PostDraft, thread: Sequence[Post], budget: int = REPLY_BUDGET) -> bool:
    """Whether an agent's `draft` must wait for a person's word in its `thread`, which comes in thread order.

    Never for a root, an event of a task, an event of a review that discusses nothing, or a thread with open work; an
    event that discusses counts only the discussion of its own review.
    """
    if draft.author is AuthorKind.HUMAN or not thread or "task_id" in draft.groups or _has_open_task(thread):
        return False
    if "review_id" in draft.groups:
        if draft.groups.get("review_state") != "discussing":
            return False
        thread = [post for post in thread if _discusses(post, draft.groups) or post.author is AuthorKind.HUMAN]
    return agents_in_a_row(thread) + 1 >= budget


def _discusses(post: Post, groups: Mapping[str, object]) -> bool:
    return post.groups.get("review_id") == groups["review_id"] and post.groups.get("review_state") == "discussing"


def _has_open_task(thread: Sequence[Post]) -> bool:
    states = {
        post.groups["task_id"]: post.groups.get("task_state")
        for post in sorted(thread, key=lambda one: one.id)
        if "task_id" in post.groups
    }
    return any(state not in TASK_FINAL for state in states.values())
