"""Where a message stands, as far as its two ends' adapters have told."""

import pytest

from peerline.core.agent import Presence
from peerline.core.errors import WrongState
from peerline.core.ids import AgentId
from peerline.core.message import Message, Status
from peerline.core.standing import Recipient, standing
from peerline.core.trail import Fact, Observed, facts, reported
from tests.core.test_message import LEAD, REVIEWER, a_message

TAKEN = a_message().acknowledged(REVIEWER, 5)
REPLIED = a_message().replied(REVIEWER, "ok", 5)
HERE, AWAY = Recipient(Presence.ONLINE, streams=1), Recipient(Presence.OFFLINE)
HELD = a_message().changed(held_at=0)


def told(fact: Observed, end: AgentId = REVIEWER, reason: str | None = None) -> Fact:
    return Fact(6, fact, end, reported("claude-code", reason))


@pytest.mark.parametrize(
    ("message", "fact", "why"),
    [
        (a_message(), Observed.ANNOUNCED, "announced to reviewer by claude-code, not yet in a turn"),
        (a_message(), Observed.IN_TURN, "in a turn of reviewer (claude-code), which has not replied yet"),
        (a_message(), Observed.READ, "read by reviewer (claude-code), which has not replied yet"),
        (TAKEN, Observed.ANNOUNCED, "taken; announced to reviewer by claude-code, not yet in a turn"),
        (TAKEN, Observed.IN_TURN, "in a turn of reviewer (claude-code), which has not replied yet"),
        (TAKEN, Observed.READ, "read by reviewer (claude-code), which has not replied yet"),
    ],
)
def test_how_near_a_request_came_to_the_model_is_said(message: Message, fact: Observed, why: str) -> None:
    assert standing(message, HERE, [told(fact)]).why == why


@pytest.mark.parametrize(
    ("fact", "why", "done"),
    [
        (
            Observed.ANNOUNCED,
            "replied by reviewer; the reply was announced to lead by claude-code, not yet in a turn",
            False,
        ),
        (Observed.IN_TURN, "replied by reviewer, and lead has the reply in a turn (claude-code)", True),
        (Observed.READ, "replied by reviewer, and lead has read the reply (claude-code)", True),
    ],
)
def test_how_near_a_reply_came_to_its_asker_is_said(fact: Observed, why: str, done: bool) -> None:
    pushed = Fact(6, Observed.FINAL_PUSHED, LEAD, "by stream")
    found = standing(REPLIED, HERE, [pushed, told(fact, LEAD)])
    assert (found.why, found.next == "nothing to do") == (why, done)


def test_a_reply_that_was_only_pushed_is_not_told_as_got() -> None:
    pushed = Fact(6, Observed.FINAL_PUSHED, LEAD)
    found = standing(REPLIED, HERE, [pushed])
    assert found.why == "replied by reviewer; the reply was pushed to lead, and nothing says that it was read"
    assert found.next == f"kxm peer get {REPLIED.id}"
    got = standing(REPLIED, HERE, [pushed, Fact(7, Observed.FINAL_READ, LEAD)])
    assert (got.why, got.next) == ("replied by reviewer, and lead has the reply", "nothing to do")


def test_a_turn_that_waits_for_a_person_is_said_to_whatever_was_read_before_until_it_goes_on() -> None:
    waits = told(Observed.IN_TURN, reason="its client asks its user for permission")
    for before in ([], [told(Observed.ANNOUNCED)], [told(Observed.READ)]):
        found = standing(TAKEN, HERE, [*before, waits])
        assert "in a turn of reviewer (claude-code) that does not go on by itself: its client asks" in found.why
        assert found.next == "somebody has to answer it in reviewer's terminal"
    for after in (told(Observed.IN_TURN), told(Observed.READ)):
        assert "which has not replied yet" in standing(TAKEN, HERE, [waits, after]).why


def test_what_could_not_be_announced_is_said_with_its_reason_and_a_next_step() -> None:
    silent = [told(Observed.NOT_ANNOUNCED, reason="the thread runs in `codex exec`: it takes no messages")]
    for message in (a_message(), TAKEN):
        found = standing(message, HERE, silent)
        assert "claude-code could not announce it to reviewer: the thread runs in `codex exec`: it takes" in found.why
        assert "reads its inbox" in found.next
    later = [*silent, told(Observed.ANNOUNCED)]
    assert "announced to reviewer" in standing(a_message(), HERE, later).why
    asker = [told(Observed.NOT_ANNOUNCED, LEAD, "no channel"), Fact(5, Observed.FINAL_PUSHED, LEAD)]
    assert standing(REPLIED, HERE, asker).next == f"kxm peer get {REPLIED.id}"


def test_the_furthest_fact_counts_whatever_was_told_later() -> None:
    recorded = [told(Observed.READ), told(Observed.ANNOUNCED), told(Observed.NOT_ANNOUNCED, reason="gone")]
    assert standing(TAKEN, HERE, recorded).why.startswith("read by reviewer")


def test_one_ends_facts_say_nothing_of_the_other_and_a_fetch_is_no_reading_by_a_model() -> None:
    fetched = Fact(6, Observed.READ, REVIEWER, "inbox")
    found = standing(TAKEN, HERE, [told(Observed.READ, LEAD), fetched])
    assert found.why == "taken by reviewer, which has not replied yet"


@pytest.mark.parametrize(
    ("message", "fact", "why"),
    [
        (
            a_message(),
            Observed.ANNOUNCED,
            "announced to reviewer by claude-code, not yet in a turn, and is offline now",
        ),
        (a_message(), Observed.NOT_ANNOUNCED, "stored; reviewer is offline"),
        (TAKEN, Observed.IN_TURN, "in a turn of reviewer, which went offline before it replied"),
        (
            TAKEN,
            Observed.ANNOUNCED,
            "taken by reviewer and announced by claude-code; it went offline before a turn began with it",
        ),
        (
            TAKEN,
            Observed.NOT_ANNOUNCED,
            "taken by reviewer, which went offline; claude-code could not announce it: it did not say why",
        ),
    ],
)
def test_who_went_away_is_not_told_as_working(message: Message, fact: Observed, why: str) -> None:
    assert standing(message, AWAY, [told(fact)]).why == why


def test_a_held_request_says_who_lets_it_go_whatever_its_recipient_does() -> None:
    for presence in Presence:
        found = standing(HELD, Recipient(presence), [], REVIEWER)
        assert found.why == "held: too many requests between lead and reviewer without a person's turn"
        assert found.next == "a person continues with: peerline continue lead reviewer"
    assert "while it was held" in standing(HELD.expired(1_000), HERE, []).why
    assert "held" not in standing(HELD.cancelled(LEAD, 5), HERE, []).why


def test_a_held_request_can_be_withdrawn_or_expire_and_nothing_else() -> None:
    with pytest.raises(WrongState, match="cannot acknowledge a held message"):
        HELD.acknowledged(REVIEWER, 5)
    with pytest.raises(WrongState, match="cannot reply to a held message"):
        HELD.replied(REVIEWER, "ok", 5)
    assert HELD.cancelled(LEAD, 5).status is Status.CANCELLED
    assert HELD.expired(1_000).status is Status.EXPIRED
    free = HELD.released(9)
    assert (free.held, free.seq, free.status) == (False, 9, Status.QUEUED)
    assert free.replied(REVIEWER, "ok", 5).reply == "ok"


def test_facts_of_one_moment_stand_in_the_order_of_a_messages_life() -> None:
    recorded = [Fact(0, fact, REVIEWER) for fact in reversed(Observed)]
    kinds = [fact.fact for fact in facts(a_message(), recorded)]
    order = [Observed.STORED, *Observed]
    assert kinds == [str(fact) for fact in order]


@pytest.mark.parametrize(
    ("message", "asked", "recorded", "why"),
    [
        (
            a_message(),
            Recipient(Presence.STALE),
            [],
            "stored; reviewer is not heard from any more and has no open stream",
        ),
        (
            a_message(),
            Recipient(Presence.STALE, 1),
            [Fact(1, Observed.PUSHED, REVIEWER)],
            "pushed to reviewer, which has not taken it and is not heard from any more",
        ),
        (TAKEN, Recipient(Presence.STALE, 1), [], "taken by reviewer, which is not heard from any more"),
        (
            a_message(),
            Recipient(Presence.ONLINE),
            [Fact(1, Observed.PUSHED, REVIEWER)],
            "pushed to reviewer, which did not take it; its stream is gone",
        ),
        (
            a_message(),
            Recipient(Presence.ONLINE, 1, full=True),
            [],
            "stored; reviewer's stream takes nothing more: its client does not read on",
        ),
        (
            a_message(),
            Recipient(Presence.OFFLINE, twin="reviewer-7"),
            [],
            "stored; reviewer is offline; reviewer-7, a session that could not have that name, is here",
        ),
    ],
)
def test_a_recipient_that_is_not_what_it_was_is_told_as_it_is(
    message: Message, asked: Recipient, recorded: list[Fact], why: str
) -> None:
    found = standing(message, asked, recorded)
    assert (found.why, found.stuck) == (why, True)


def test_a_program_may_stop_listening_and_work_on_and_a_session_may_not() -> None:
    """A session's adapter listens as long as it lives."""
    by = {
        adapter: [Fact(5, Observed.ACKNOWLEDGED, REVIEWER, reported(adapter))]
        for adapter in ("mcp:codex", "pi", "ours")
    }
    gone = Recipient(Presence.ONLINE, streams=0)
    found = {adapter: standing(TAKEN, gone, recorded) for adapter, recorded in by.items()}
    assert {adapter for adapter, where in found.items() if where.stuck} == {"mcp:codex", "pi"}
    assert found["pi"].why == "taken by reviewer, which lost its connection before it replied"
    at_work = [*by["pi"], told(Observed.IN_TURN)]
    assert not standing(TAKEN, gone, at_work).stuck, "its turn goes on, whatever its connection does"


@pytest.mark.parametrize(
    ("recorded", "taken", "why"),
    [
        ([], False, "expired; reviewer never took it"),
        ([], True, "expired; reviewer took it and did not reply in time"),
        ([Observed.NOT_ANNOUNCED], True, "expired; claude-code could not announce it to reviewer: it did not say why"),
        ([Observed.ANNOUNCED], True, "expired; it was announced to reviewer by claude-code, and no turn began with it"),
        ([Observed.IN_TURN], True, "expired in a turn of reviewer (claude-code), which did not reply in time"),
    ],
)
def test_an_expired_request_says_how_far_it_came(recorded: list[Observed], taken: bool, why: str) -> None:
    message = (TAKEN if taken else a_message()).expired(1_000)
    found = standing(message, HERE, [told(fact) for fact in recorded])
    assert (found.why, found.next) == (why, f"if it still matters: kxm peer resend {message.id}")


@pytest.mark.parametrize(
    ("message", "recorded", "stuck"),
    [
        (a_message(), [], False),
        (a_message(), [Fact(1, Observed.PUSHED, REVIEWER)], True),
        (TAKEN, [], False),
        (TAKEN, [Fact(6, Observed.ANNOUNCED, REVIEWER, "by x")], True),
        (TAKEN, [Fact(6, Observed.IN_TURN, REVIEWER, "by x")], False),
        (TAKEN, [Fact(6, Observed.IN_TURN, REVIEWER, "by x: asks its user")], True),
        (TAKEN, [Fact(6, Observed.READ, REVIEWER, "by x")], False),
        (REPLIED, [], True),
        (REPLIED, [Fact(6, Observed.FINAL_PUSHED, LEAD)], True),
        (REPLIED, [Fact(6, Observed.FINAL_READ, LEAD)], False),
        (REPLIED, [Fact(6, Observed.IN_TURN, LEAD, "by x")], False),
        (REPLIED, [Fact(6, Observed.IN_TURN, LEAD, "by x: asks its user")], True),
        (HELD, [], True),
        (TAKEN.cancelled(LEAD, 5), [], False),
        (TAKEN.expired(1_000), [], True),
    ],
)
def test_stuck_is_what_nobody_is_at_work_on_or_whose_outcome_nobody_has(
    message: Message, recorded: list[Fact], stuck: bool
) -> None:
    assert standing(message, HERE, recorded).stuck is stuck
