from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerline.core.post import AuthorKind, Kind, Needs, Post
from peerline.core.post_draft import PostDraft, draft
from peerline.core.threads import agents_in_a_row, budget_spent, reply_thread, thread_order


def a_post(number: int, parent: int | None = None, **members: object) -> Post:
    post = Post(
        id=f"{number:026d}",
        thread=f"{1:026d}",
        room="build",
        sender="alice",
        author=AuthorKind.AGENT,
        ts=0,
        kind=Kind.MSG,
        needs=Needs.NONE,
        in_reply_to=None if parent is None else f"{parent:026d}",
    )
    return post._replace(**members)  # type: ignore[arg-type]


def order(*posts: Post) -> list[int]:
    return [int(post.id) for post in thread_order(posts)]


def test_replies_stand_under_their_parents_and_siblings_by_id() -> None:
    assert order(a_post(5, 2), a_post(4, 1), a_post(3, 2), a_post(2, 1), a_post(1), a_post(6)) == [1, 2, 3, 5, 4, 6]


def test_a_reply_to_what_is_not_there_is_a_root() -> None:
    assert order(a_post(9, 7), a_post(8, 9), a_post(10)) == [9, 8, 10]


def test_a_post_that_answers_itself_or_in_a_ring_is_still_shown() -> None:
    assert order(a_post(1, 1)) == [1]
    assert order(a_post(3), a_post(1, 2), a_post(2, 1)) == [3, 1, 2]


def test_a_deep_thread_needs_no_deep_stack() -> None:
    deep = [a_post(1), *(a_post(number, number - 1) for number in range(2, 5_001))]
    assert order(*reversed(deep)) == list(range(1, 5_001))


@given(st.lists(st.tuples(st.integers(1, 12), st.none() | st.integers(1, 12)), max_size=12))
def test_every_post_is_shown_once_in_whatever_order_they_came(pairs: list[tuple[int, int | None]]) -> None:
    posts = list({number: a_post(number, parent) for number, parent in pairs}.values())
    shown = order(*posts)
    assert sorted(shown) == sorted(int(post.id) for post in posts)
    assert shown == order(*reversed(posts))


@pytest.mark.requirement("RELAY-THREAD-INHERITED")
def test_a_reply_is_in_its_parents_thread() -> None:
    parent = a_post(7, 1)
    assert reply_thread(None, parent.id, parent) == parent.thread
    assert reply_thread(None, parent.id, None) == parent.id
    assert reply_thread("explicit", parent.id, parent) == "explicit"
    assert reply_thread(None, None, None) is None


def a_draft(**groups: object) -> PostDraft:
    return draft(room="build", body="on it", groups=groups)


TASK = {
    "task_id": f"{8:026d}",
    "task_state": "open",
    "task_action": "created",
    "task_creator": "alice",
    "task_title": "t",
}
REVIEW = {
    "review_id": f"{9:026d}",
    "review_state": "discussing",
    "review_requester": "alice",
    "review_reviewer": "bob",
    "review_repo": "a/b",
    "review_base_rev": "1" * 40,
    "review_head_rev": "2" * 40,
}


@pytest.mark.parametrize(("budget", "allowed"), [(12, 11), (3, 2), (1, 0)])
def test_a_budget_of_n_lets_agents_speak_one_time_less(budget: int, allowed: int) -> None:
    thread: list[Post] = [a_post(1)] if allowed else []
    while not budget_spent(a_draft(), thread or [a_post(1, author=AuthorKind.HUMAN)], budget):
        thread.append(a_post(len(thread) + 1, 1))
    assert len(thread) == allowed


def test_a_persons_word_fills_the_budget_again() -> None:
    thread = [a_post(number) for number in range(1, 12)]
    assert budget_spent(a_draft(), thread)
    thread.append(a_post(12, author=AuthorKind.HUMAN))
    assert agents_in_a_row(thread) == 0
    assert not budget_spent(a_draft(), thread)


def test_a_person_a_root_and_work_in_hand_are_not_held() -> None:
    thread = [a_post(number) for number in range(1, 20)]
    assert not budget_spent(replace(a_draft(), author=AuthorKind.HUMAN), thread)
    assert not budget_spent(a_draft(), [])
    assert not budget_spent(a_draft(**TASK), thread)
    assert not budget_spent(a_draft(), [*thread, a_post(20, groups=TASK)])
    done = TASK | {"task_state": "completed", "task_assignee": "alice"}
    assert budget_spent(a_draft(), [*thread, a_post(20, groups=TASK), a_post(21, groups=done)])


def test_only_the_discussion_of_a_review_counts_for_it() -> None:
    thread = [a_post(number) for number in range(1, 20)]
    assert not budget_spent(a_draft(**REVIEW), thread)
    assert not budget_spent(a_draft(**(REVIEW | {"review_state": "reported"})), thread)
    assert budget_spent(a_draft(**REVIEW), [a_post(number, groups=REVIEW) for number in range(1, 12)])
