"""Who is told of what, and in which words."""

import unicodedata
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from peerline.network.notify.notice import BODY, TITLE, Arrival, Reason, arrival, notice, plain, reason

ME = "ada-claude"
ONE = Arrival(
    id="01M8NYQAWTMHAER6TCK0F8D7SP", room="build", sender="bob-codex", needs="none", priority="normal", mentions=()
)
TO_ME = replace(ONE, mentions=(ME,))
TO_ROOM = replace(ONE, mentions=("@room",))


@pytest.mark.parametrize("near", [True, False])
@pytest.mark.parametrize(
    ("one", "told"),
    [
        (ONE, (None, None)),
        (replace(ONE, needs="agent"), (None, None)),
        (TO_ROOM, (None, None)),
        (TO_ME, (None, Reason.MENTION)),
        (replace(TO_ME, needs="agent", priority="high"), (None, Reason.MENTION)),
        (replace(ONE, priority="blocking"), (Reason.BLOCKING, Reason.BLOCKING)),
        (replace(ONE, needs="human"), (Reason.HUMAN, Reason.HUMAN)),
        (replace(TO_ME, needs="human", priority="blocking"), (Reason.HUMAN, Reason.HUMAN)),
    ],
)
def test_a_person_is_told_what_needs_one_what_blocks_and_a_mention_while_no_agent_is_near(
    near: bool, one: Arrival, told: tuple[Reason | None, Reason | None]
) -> None:
    assert reason(one, ME, agent_near=near) is told[0 if near else 1]


def test_one_message_is_named_by_its_ids() -> None:
    made = notice([ONE, replace(ONE, needs="human", sender="cy-cursor")], ME, agent_near=True)
    assert made is not None
    assert made.title == "cy-cursor needs a person"
    assert made.body == f"komnet, room build. Read it: komnet inbox --id {ONE.id}"
    assert made.urgent


def test_a_sender_that_is_not_proven_is_told_as_such() -> None:
    made = notice([replace(TO_ME, proven=False)], ME, agent_near=False)
    assert made is not None
    assert "sender not proven" in made.body
    assert not made.urgent


def test_many_messages_make_one_notice() -> None:
    human, blocking = replace(ONE, needs="human"), replace(ONE, priority="blocking", room="release")
    made = notice([human, blocking, *[replace(TO_ME, room=f"r{n}") for n in range(500)]], ME, agent_near=False)
    assert made is not None
    assert made.title == "komnet: 502 messages for you"
    assert made.body == "1 for a person, 1 blocking, 500 with your name; in build, release, r0 and more. komnet inbox"


def test_nothing_worth_telling_makes_none() -> None:
    assert notice([], ME, agent_near=False) is None
    assert notice([ONE, TO_ROOM], ME, agent_near=False) is None


def test_the_longest_ids_fit() -> None:
    made = notice([replace(ONE, sender="a" * 40, room="r" * 63, needs="human", proven=False)], ME, agent_near=True)
    assert made is not None
    assert made.title.endswith(" needs a person")
    assert made.body.endswith(ONE.id)


def test_an_arrival_is_read_from_a_sync_report() -> None:
    header: dict[str, object] = {"id": ONE.id, "room": "build", "from": "bob-codex", "needs": "none"}
    header |= {"priority": "normal", "mentions": [ME]}
    assert arrival(header) == TO_ME
    assert arrival(header, {ONE.id}) == replace(TO_ME, proven=False)
    assert arrival({}).mentions == ()


TEXTS = st.text(st.sampled_from("ab \"'\\`$<>&\n\t\x00\x1b\u202e\u200b\ud800ä中🔑") | st.characters())


@given(TEXTS, TEXTS, TEXTS, st.booleans())
def test_whatever_stands_in_a_header_a_notice_is_two_plain_lines(room: str, sender: str, id: str, near: bool) -> None:
    made = notice([replace(ONE, room=room, sender=sender, id=id, needs="human")], ME, agent_near=near)
    assert made is not None
    for text, at_most in ((made.title, TITLE), (made.body, BODY)):
        assert len(text) <= at_most
        assert not set(text) & set("\"'\\`$<>&\n\r\t")
        assert all(unicodedata.category(c) not in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp") for c in text)


def test_a_cut_text_says_so() -> None:
    assert plain("x" * 61, 60) == "x" * 59 + "…"
    assert plain(" a\n\tb  c ", 60) == "a b c"


@pytest.mark.parametrize(
    ("standing", "title", "urgent"),
    [
        (Reason.HELD, "bob-codex wrote: held, nobody here takes it", True),
        (Reason.STRANDED, "bob-codex wrote: it could not be handed over", False),
    ],
)
def test_what_the_gateway_could_not_place_is_told_whoever_is_near(standing: Reason, title: str, urgent: bool) -> None:
    made = notice([replace(TO_ME, standing=standing)], ME, agent_near=True)
    assert made is not None
    assert (made.title, made.urgent) == (title, urgent)
    assert made.body == f"komnet, room build. {ONE.id}: peerline inbox --me"


def test_what_the_gateway_holds_is_counted_beside_what_needs_a_person() -> None:
    made = notice([replace(ONE, standing=Reason.HELD), replace(ONE, needs="human")], ME, agent_near=True)
    assert made is not None
    assert made.body == "1 for a person, 1 held; in build. peerline inbox --me"
