from typing import Any

import pytest

from peerline.core.identifiers import InvalidIdentifier, agent_id, is_agent_id, is_room_id, is_room_shape, room_id, slug
from peerline.core.post import BODY_BYTES, AuthorKind, Kind, Needs, Priority
from peerline.core.post_draft import InvalidPost, PostDraft, draft

ID = "01M8NZR3XVZK0P3M99YTFG63X7"


def test_a_draft_becomes_a_post_that_opens_its_own_thread() -> None:
    made = draft(room="build", body="hello", mentions=["bob-codex", "@room", "bob-codex"], tags=["ci"])
    post = made.post(id=ID, sender="alice-cursor", ts=5)
    assert (post.thread, post.is_root, post.body, post.mentions) == (ID, True, "hello\n", ("bob-codex", "@room"))
    assert (post.kind, post.needs, post.author, post.priority) == (
        Kind.MSG,
        Needs.NONE,
        AuthorKind.AGENT,
        Priority.NORMAL,
    )


@pytest.mark.parametrize(
    ("field", "value", "told"),
    [
        ("kind", "foo", "allowed: msg, question, answer, decision, status, artifact"),
        ("kind", "system", "allowed: msg, question, answer, decision, status, artifact"),
        ("needs", "maybe", "allowed: none, agent, human"),
        ("priority", "urgent", "allowed: low, normal, high, blocking"),
        ("mentions", ["Bob Codex"], "say an agent id (a-z 0-9 . _ -) or @room"),
        ("mentions", ["@everyone"], "say an agent id (a-z 0-9 . _ -) or @room"),
        ("in_reply_to", "last", "in_reply_to 'last' is no post id: 26 characters"),
        ("thread", ID.lower(), "is no post id: 26 characters"),
        ("tags", ["two\nlines"], "tags: one line of 1 to 500 characters"),
        ("tags", [""], "tags: one line of 1 to 500 characters"),
        ("refs", ["\x1b[31mred"], "refs: one line"),
        ("refs", [f"file:{n}" for n in range(101)], "refs: at most 100"),
        ("unsafe_reason", "line\u2028line", "unsafe_reason: one line"),
        ("body", " \n ", "the body is empty"),
        ("body", "x" * BODY_BYTES, f"the body is {BODY_BYTES + 1:,} bytes long; at most {BODY_BYTES:,}"),
        ("body", "\udc80", "not valid Unicode"),
        ("groups", {"task_id": "x"}, "task_id is not acceptable"),
    ],
)
def test_a_draft_that_nobody_could_read_is_refused_and_the_text_says_what_is_allowed(
    field: str, value: Any, told: str
) -> None:
    with pytest.raises(InvalidPost) as refused:
        draft(**{"room": "build", "body": "hello", field: value})
    assert told in str(refused.value)
    assert refused.value.code == "INVALID_POST"
    assert len(str(refused.value)) < 300


@pytest.mark.parametrize("room", ["", "Build", "-a", "a-", "a_b", "a" * 64, "main", "komnet", "../x", "a\n"])
def test_a_room_that_is_none_is_refused(room: str) -> None:
    with pytest.raises(InvalidIdentifier):
        room_id(room)
    with pytest.raises(InvalidIdentifier):
        draft(room=room, body="hello")
    assert not is_room_id(room)


@pytest.mark.parametrize("name", ["", "Alice", ".a", "a.", "a b", "a" * 41, "@room", "a/b", "ä"])
def test_an_agent_id_that_is_none_is_refused(name: str) -> None:
    with pytest.raises(InvalidIdentifier):
        agent_id(name)
    with pytest.raises(InvalidPost):
        draft(room="build", body="hello").post(id=ID, sender=name, ts=0)


def test_ids_may_hold_two_dashes_and_reach_their_full_length() -> None:
    assert room_id("a--b") == "a--b"
    assert agent_id("a--b.c_d") == "a--b.c_d"
    assert is_room_id("a" * 63)
    assert is_agent_id("a" * 40)
    assert is_room_shape("main")


def test_the_lines_of_a_body_end_as_the_reader_will_see_them() -> None:
    assert draft(room="build", body="a\r\nb\n\n").body == "a\nb\n\n"
    assert PostDraft(room="build", body="a\r\nb").body == "a\nb\n"


def test_a_post_needs_an_id_of_its_own_kind() -> None:
    with pytest.raises(InvalidPost):
        draft(room="build", body="hello").post(id="1", sender="alice", ts=0)


@pytest.mark.parametrize(
    ("text", "slugged"),
    [("Refunds are partial-capable", "refunds-are-partial-capable"), ("Überweg  Ñ!", "uberweg-n"), ("日本", None)],
)
def test_a_slug_keeps_letters_and_digits(text: str, slugged: str | None) -> None:
    assert slug(text) == slugged
    assert slug("a" * 62 + " b") == "a" * 62
