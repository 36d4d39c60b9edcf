"""Messages as use cases, on a real store."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from peerline.core.errors import (
    DuplicateReply,
    MessageNotFound,
    NoteLimitReached,
    PeerlineError,
    RecipientQueueFull,
    TargetNotFound,
    WrongState,
)
from peerline.core.message import Message, Status
from peerline.database.later import Later
from tests.hub.parts import RETENTION_MS, Parts, draft, ids


def error_of(later: Later[Any]) -> PeerlineError:
    assert isinstance(later.error, PeerlineError)
    return later.error


def test_a_request_travels_and_its_reply_is_stored_once(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = hub.send(lead, "Reviewer", " look at this ")
    assert (sent.status, sent.seq, sent.body) == (Status.QUEUED, 1, " look at this ")
    taken, first = hub.messages.acknowledge(sent.id, reviewer).result()
    assert (taken.status, first) == (Status.DELIVERED, True)
    assert hub.messages.acknowledge(sent.id, reviewer).result()[1] is False
    assert hub.messages.reply(sent.id, reviewer, "fine").result().reply == "fine"
    assert isinstance(hub.messages.reply(sent.id, reviewer, "no").error, DuplicateReply)
    assert hub.messages.get(sent.id, lead).result().reply == "fine"


def test_a_request_can_be_answered_while_it_is_still_queued(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = hub.send(lead, "reviewer")
    replied = hub.messages.reply(sent.id, reviewer, "fine").result()
    assert (replied.status, replied.delivered_at) == (Status.REPLIED, None)


def test_an_exact_retry_is_the_original_whatever_became_of_it(hub: Parts) -> None:
    lead, reviewer = hub.register("lead").agent, hub.register("reviewer")
    first, repeated = hub.messages.send(lead, draft("reviewer", idempotency_key="k")).result()
    assert not repeated
    hub.messages.reply(first.id, reviewer.agent, "done").result()
    hub.agents.unregister(reviewer.agent, next(iter(hub.agents._roster.by_id(reviewer.agent.id).sessions)))  # type: ignore[union-attr]
    again, repeated = hub.messages.send(lead, draft("REVIEWER", idempotency_key="k")).result()
    assert (repeated, again.id, again.status) == (True, first.id, Status.REPLIED)
    assert (
        error_of(hub.messages.send(lead, draft("reviewer", "other", idempotency_key="k"))).code
        == "idempotency_conflict"
    )


def test_a_refused_send_does_not_use_up_its_key(hub: Parts) -> None:
    lead = hub.agent("lead")
    assert isinstance(hub.messages.send(lead, draft("reviewer", idempotency_key="k")).error, TargetNotFound)
    hub.agent("reviewer")
    assert hub.messages.send(lead, draft("reviewer", idempotency_key="k")).result()[1] is False


def test_a_full_queue_refuses_and_leaves_no_row(tmp_path: Path) -> None:
    hub = Parts(tmp_path, queue_limit=2)
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    kept = [hub.send(lead, "reviewer") for _ in range(2)]
    assert isinstance(hub.messages.send(lead, draft("reviewer")).error, RecipientQueueFull)
    assert ids(hub.messages.inbox(reviewer).result()) == ids(kept)
    hub.messages.reply(kept[0].id, reviewer, "ok").result()
    assert hub.send(lead, "reviewer").seq == 3


def test_expiry_tells_both_ends_even_when_a_refusal_is_the_answer(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = hub.send(lead, "reviewer", ttl_ms=1_000)
    _, of_lead = hub.watch(lead)
    _, of_reviewer = hub.watch(reviewer)
    hub.time.step(1.0)
    late = hub.messages.reply(sent.id, reviewer, "late")
    assert isinstance(late.error, WrongState)
    assert late.error.text == "cannot reply to a expired message"
    for screen in (of_lead, of_reviewer):
        assert [json.loads(data)["message"]["status"] for data in screen.frames("expired")] == ["expired"]


@pytest.mark.anyio
async def test_the_sweep_expires_purges_and_forgets(hub: Parts) -> None:
    lead = hub.agent("lead")
    hub.agent("reviewer")
    sent = hub.send(lead, "reviewer", ttl_ms=1_000)
    hub.time.step(5)
    await hub.sweeper.sweep()
    assert hub.messages.get(sent.id, lead).result().status == Status.EXPIRED
    hub.time.step(RETENTION_MS / 1000)
    await hub.sweeper.sweep()
    assert isinstance(hub.messages.get(sent.id, lead).error, MessageNotFound)
    (rows,) = hub.connection.execute("SELECT (SELECT count(*) FROM body) + (SELECT count(*) FROM trail)").fetchall()[0]
    assert rows == 0


def test_an_open_message_is_never_purged(hub: Parts) -> None:
    lead = hub.agent("lead")
    hub.agent("reviewer")
    sent = hub.send(lead, "reviewer", ttl_ms=604_800_000)
    hub.time.step(604_799)
    assert hub.messages.purge(1_000, 100).result() == 0
    assert hub.messages.get(sent.id, lead).result().open


def test_notes_tell_of_progress_and_leave_the_one_reply_unused(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = hub.send(lead, "reviewer")
    _, screen = hub.watch(lead)
    for number in range(20):
        hub.messages.note(sent.id, reviewer, f"step {number}").result()
    assert isinstance(hub.messages.note(sent.id, reviewer, "one more").error, NoteLimitReached)
    assert error_of(hub.messages.note(sent.id, lead, "mine")).code == "message_forbidden"
    assert [json.loads(data)["note"]["content"] for data in screen.frames("note")][:2] == ["step 0", "step 1"]
    assert hub.messages.reply(sent.id, reviewer, "done").result().status == Status.REPLIED
    assert isinstance(hub.messages.note(sent.id, reviewer, "late").error, WrongState)


def test_the_trail_names_each_observer_and_the_next_step(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = hub.send(lead, "reviewer")
    assert (
        hub.messages.trail(sent.id, lead).result().standing.why == "stored; reviewer is online but has no open stream"
    )
    feed, _ = hub.watch(reviewer)
    hub.messages.acknowledge(sent.id, reviewer).result()
    hub.messages.reply(sent.id, reviewer, "ok").result()
    told = hub.messages.trail(sent.id, lead).result()
    assert [(fact.fact, fact.observer) for fact in told.facts] == [
        ("stored", "hub"),
        ("pushed", "reviewer"),
        ("acknowledged", "reviewer"),
        ("replied", "reviewer"),
    ]
    assert "lead has not fetched the reply" in told.standing.why
    hub.messages.get(sent.id, lead).result()
    assert hub.messages.trail(sent.id, lead).result().standing.next == "nothing to do"
    hub.leave(feed)


def test_messages_and_their_numbers_survive_a_restart(tmp_path: Path) -> None:
    hub = Parts(tmp_path)
    lead = hub.agent("lead")
    hub.agent("reviewer")
    sent = hub.send(lead, "reviewer", idempotency_key="k")
    hub = hub.restarted(tmp_path)
    again, repeated = hub.messages.send(lead, draft("reviewer", idempotency_key="k")).result()
    assert (again, repeated) == (sent, True)
    assert hub.send(lead, "reviewer").seq == 2


def test_nothing_that_was_refused_leaves_a_row(hub: Parts) -> None:
    lead = hub.agent("lead")
    for target, offline in (("nobody", False), ("lead", False), ("nobody", True)):
        assert hub.messages.send(lead, draft(target, allow_offline=offline)).failed
    (rows,) = hub.connection.execute("SELECT count(*) FROM message").fetchall()[0]
    assert rows == 0


def test_what_was_sent_is_listed_newest_first_and_by_state(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent: list[Message] = [hub.send(lead, "reviewer", str(number)) for number in range(4)]
    hub.messages.acknowledge(sent[1].id, reviewer).result()
    hub.messages.cancel(sent[2].id, lead).result()
    assert ids(hub.messages.sent(lead, "all", 10).result()) == ids(sent[::-1])
    assert ids(hub.messages.sent(lead, "open", 10).result()) == ids([sent[3], sent[1], sent[0]])
    assert ids(hub.messages.sent(lead, "undelivered", 10).result()) == ids([sent[3], sent[0]])


@pytest.mark.parametrize("winner", ["reply", "cancel"])
def test_of_a_reply_and_a_cancellation_the_first_wins(hub: Parts, winner: str) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = hub.send(lead, "reviewer")
    acts: list[Callable[[], Later[Message]]] = [
        lambda: hub.messages.reply(sent.id, reviewer, "ok"),
        lambda: hub.messages.cancel(sent.id, lead),
    ]
    first, second = acts if winner == "reply" else acts[::-1]
    assert not first().failed
    assert error_of(second()).code == "invalid_message_state"


def test_a_look_that_shows_nobody_the_text_is_no_reading(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    sent = hub.send(lead, "reviewer")
    assert ids(hub.messages.inbox(reviewer, peek=True).result()) == [sent.id]
    assert [fact.fact for fact in hub.messages.trail(sent.id, lead).result().facts] == ["stored"]
    hub.messages.inbox(reviewer).result()
    assert [fact.fact for fact in hub.messages.trail(sent.id, lead).result().facts] == ["stored", "read"]
