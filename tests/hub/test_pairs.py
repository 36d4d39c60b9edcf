"""Two agents that only talk to each other: held in time, told to both, let go by a person."""

import json
from pathlib import Path
from typing import Any

import pytest

from peerline.core.agent import Agent
from peerline.core.errors import (
    PairHeld,
    PeerlineError,
    PersonOnly,
    RingDetected,
    SelfTarget,
    TargetNotFound,
    WrongState,
)
from peerline.core.limits import PAIR_WINDOW_MS
from peerline.core.message import Message, Status
from peerline.core.trail import Observed
from peerline.database.later import Later
from peerline.store.api import Tx
from tests.hub.parts import Parts, draft, ids

LIMIT = 3


@pytest.fixture
def braked(tmp_path: Path) -> Parts:
    return Parts(tmp_path, pair_limit=LIMIT)


def error_of(later: Later[Any]) -> PeerlineError:
    assert isinstance(later.error, PeerlineError)
    return later.error


def refusal(hub: Parts, by: Agent, one: str, other: str) -> PeerlineError:
    with pytest.raises(PeerlineError) as refused:
        hub.pairs.go_on(by, one, other)
    return refused.value


def ping_pong(hub: Parts, one: Agent, other: Agent, times: int = LIMIT) -> list[Message]:
    ends = [(one, other), (other, one)]
    return [hub.send(ends[turn % 2][0], ends[turn % 2][1].name, f"turn {turn}") for turn in range(times)]


def test_what_exceeds_the_limit_is_kept_from_its_recipient_and_said_to_its_sender(braked: Parts) -> None:
    lead, reviewer = braked.agent("lead"), braked.agent("reviewer")
    _, screen = braked.watch(reviewer)
    sent = ping_pong(braked, lead, reviewer)
    held = braked.send(lead, "reviewer", "once more")
    assert [message.held for message in (*sent, held)] == [False] * LIMIT + [True]
    assert held.status is Status.QUEUED
    assert held.id not in ids(braked.messages.inbox(reviewer).result())
    assert not any(held.id in data for data in screen.frames("message"))
    _, late = braked.watch(reviewer)
    assert not any(held.id in data for data in late.frames("message"))
    told = braked.messages.trail(held.id, lead).result()
    assert [fact.fact for fact in told.facts] == ["stored", "held"]
    assert "peerline continue lead reviewer" in told.standing.next
    assert [line["event"] for line in braked.lines][-1] == "message_held"


def test_other_pairs_go_on(braked: Parts) -> None:
    lead, reviewer, third = (braked.agent(name) for name in ("lead", "reviewer", "third"))
    ping_pong(braked, lead, reviewer)
    assert braked.send(lead, "reviewer").held
    assert not braked.send(lead, "third").held
    assert not braked.send(third, "reviewer").held


def test_a_person_lets_all_of_it_go_in_order_and_counts_anew(braked: Parts) -> None:
    lead, reviewer, ada = braked.agent("lead"), braked.agent("reviewer"), braked.person("ada")
    ping_pong(braked, lead, reviewer)
    held = [braked.send(lead, "reviewer", str(number)) for number in range(2)]
    back = braked.send(reviewer, "lead", "and back")
    assert [(pair.waiting, pair.since) for pair in braked.pairs.held("demo").result()] == [(3, held[0].sent_at)]
    assert braked.pairs.held("other").result() == []
    _, screen = braked.watch(reviewer)
    _, other = braked.watch(lead)
    done = braked.pairs.go_on(ada, "Reviewer", lead.id).result()
    assert (done.waiting, {name for _, name in done.agents}) == (3, {"lead", "reviewer"})
    frames = [json.loads(data)["message"] for data in screen.frames("message")]
    assert [frame["id"] for frame in frames][-2:] == ids(held)
    assert [frame["seq"] for frame in frames] == sorted(frame["seq"] for frame in frames)
    assert json.loads(other.frames("message")[-1])["message"]["id"] == back.id
    assert ids(braked.messages.inbox(reviewer).result())[-2:] == ids(held)
    assert [fact.observer for fact in braked.messages.trail(back.id, lead).result().facts if fact.fact == "continued"]
    assert braked.pairs.held("demo").result() == []
    assert [message.held for message in ping_pong(braked, lead, reviewer, LIMIT + 1)] == [False] * LIMIT + [True]


def test_the_trail_names_the_person(braked: Parts) -> None:
    lead, reviewer, ada = braked.agent("lead"), braked.agent("reviewer"), braked.person("ada")
    ping_pong(braked, lead, reviewer)
    held = braked.send(lead, "reviewer")
    braked.pairs.go_on(ada, "lead", "reviewer").result()
    told = braked.messages.trail(held.id, lead).result()
    assert (Observed.CONTINUED, "ada") in [(fact.fact, fact.observer) for fact in told.facts]
    assert "held" not in told.standing.why


def test_only_a_person_continues_and_only_two_agents_that_are_there(braked: Parts) -> None:
    lead, ada = braked.agent("lead"), braked.person("ada")
    assert isinstance(refusal(braked, lead, "lead", "ada"), PersonOnly)
    assert isinstance(refusal(braked, ada, "lead", "nobody"), TargetNotFound)
    assert isinstance(refusal(braked, ada, "lead", lead.id), SelfTarget)
    assert braked.pairs.go_on(ada, "lead", "ada").result().waiting == 0


def test_a_persons_question_or_answer_counts_as_a_turn(braked: Parts) -> None:
    lead, reviewer, ada = braked.agent("lead"), braked.agent("reviewer"), braked.person("ada")
    ping_pong(braked, lead, reviewer)
    braked.send(ada, "reviewer", "how is it going?")
    assert not any(message.held for message in ping_pong(braked, lead, reviewer))
    asked = braked.send(lead, "ada", "shall we go on?")
    braked.messages.reply(asked.id, ada, "yes").result()
    assert not any(message.held for message in ping_pong(braked, lead, reviewer))
    assert braked.send(lead, "reviewer").held


def test_what_is_held_is_not_let_go_by_talking_to_one_of_them(braked: Parts) -> None:
    lead, reviewer, ada = braked.agent("lead"), braked.agent("reviewer"), braked.person("ada")
    ping_pong(braked, lead, reviewer)
    assert braked.send(lead, "reviewer").held
    braked.send(ada, "lead", "hello")
    assert braked.send(lead, "reviewer").held  # else it would overtake the first


def test_nobody_is_held_from_a_person(braked: Parts) -> None:
    lead, ada = braked.agent("lead"), braked.person("ada")
    assert not any(message.held for message in ping_pong(braked, lead, ada, 4 * LIMIT))
    assert not any(braked.send(lead, "ada").held for _ in range(4 * LIMIT))


def test_no_more_is_held_than_passes_so_that_others_reach_the_recipient(braked: Parts) -> None:
    lead, reviewer = braked.agent("lead"), braked.agent("reviewer")
    ping_pong(braked, lead, reviewer)
    kept = [braked.send(lead, "reviewer", idempotency_key=f"k{number}") for number in range(LIMIT)]
    refused = braked.messages.send(lead, draft("reviewer", idempotency_key="one more"))
    assert isinstance(refused.error, PairHeld)
    again, repeated = braked.messages.send(lead, draft("reviewer", idempotency_key="k0")).result()
    assert (again.id, again.held, repeated) == (kept[0].id, True, True)
    braked.messages.cancel(kept[1].id, lead).result()
    assert braked.send(lead, "reviewer", idempotency_key="one more").held


def test_what_was_held_expires_and_then_the_pair_goes_on_by_itself(braked: Parts) -> None:
    lead, reviewer = braked.agent("lead"), braked.agent("reviewer")
    ping_pong(braked, lead, reviewer)
    held = braked.send(lead, "reviewer", ttl_ms=1_000)
    _, screen = braked.watch(lead)
    braked.time.step(1)
    assert braked.pairs.held("demo").result() == []
    assert braked.messages.get(held.id, lead).result().status is Status.EXPIRED
    assert len(screen.frames("expired")) == 1
    assert braked.send(lead, "reviewer", ttl_ms=1_000).held  # the window is not over
    braked.time.step(PAIR_WINDOW_MS / 1_000)
    assert not braked.send(lead, "reviewer").held


def test_the_window_slides(braked: Parts) -> None:
    lead, reviewer = braked.agent("lead"), braked.agent("reviewer")
    for _ in range(4 * LIMIT):
        assert not braked.send(lead, "reviewer").held
        braked.time.step(PAIR_WINDOW_MS / 1_000 / LIMIT)
    assert not braked.pairs.held("demo").result()
    assert reviewer.id


def test_a_retry_and_a_refusal_are_not_counted(braked: Parts) -> None:
    lead = braked.agent("lead")
    braked.agent("reviewer")
    for _ in range(2 * LIMIT):
        assert not braked.messages.send(lead, draft("reviewer", idempotency_key="same")).result()[0].held
        assert braked.messages.send(lead, draft("nobody")).failed
    assert not braked.send(lead, "reviewer").held


def test_a_group_that_is_run_again_counts_each_request_once(braked: Parts) -> None:
    lead = braked.agent("lead")
    braked.agent("reviewer")
    sent: list[Later[Any]] = []

    def breaks(tx: Tx) -> None:
        tx.try_disk()
        raise WrongState("after it has written")

    def queue(tx: Tx) -> None:
        sent.extend(braked.messages.send(lead, draft("reviewer")) for _ in range(LIMIT))
        sent.append(braked.store.write(breaks))

    braked.store.write(queue).result()
    assert error_of(sent.pop()).text == "after it has written"
    assert [later.result()[0].held for later in sent] == [False] * LIMIT
    assert braked.send(lead, "reviewer").held


def test_a_restart_keeps_what_is_held_and_counts_anew(tmp_path: Path) -> None:
    hub = Parts(tmp_path, pair_limit=LIMIT)
    lead, reviewer, ada = hub.agent("lead"), hub.agent("reviewer"), hub.person("ada")
    third = hub.agent("third")
    ping_pong(hub, lead, reviewer)
    held = hub.send(lead, "reviewer")
    ping_pong(hub, lead, third)
    hub.connection.close()  # killed: nothing was flushed
    hub = Parts(tmp_path, hub.time, pair_limit=LIMIT)
    assert hub.messages.get(held.id, lead).result().held
    assert hub.send(reviewer, "lead").held  # first what waits
    assert not hub.send(lead, "third").held
    assert hub.pairs.go_on(ada, "lead", "reviewer").result().waiting == 2


def test_a_number_given_on_release_is_not_given_again_after_a_kill(tmp_path: Path) -> None:
    hub = Parts(tmp_path, pair_limit=1)
    lead, reviewer, ada = hub.agent("lead"), hub.agent("reviewer"), hub.person("ada")
    hub.send(lead, "reviewer")
    held = hub.send(lead, "reviewer")
    hub.store.write(lambda tx: tx.counters.flush()).result()
    hub.pairs.go_on(ada, "lead", "reviewer").result()
    free = hub.messages.get(held.id, reviewer).result()
    assert free.seq > held.seq
    hub.connection.close()
    hub = Parts(tmp_path, hub.time, pair_limit=1)
    assert hub.send(lead, "reviewer").seq == free.seq + 1


def test_without_a_limit_nothing_is_held_and_what_was_stays_to_be_let_go(tmp_path: Path) -> None:
    hub = Parts(tmp_path, pair_limit=1)
    lead, reviewer, ada = hub.agent("lead"), hub.agent("reviewer"), hub.person("ada")
    hub.send(lead, "reviewer")
    held = hub.send(lead, "reviewer")
    hub.connection.close()
    hub.time.step(1)
    hub = Parts(tmp_path, hub.time, pair_limit=0)
    assert not any(hub.send(lead, "reviewer").held for _ in range(40))
    assert held.id not in ids(hub.messages.inbox(reviewer).result())
    assert hub.pairs.go_on(ada, "lead", "reviewer").result().waiting == 1
    assert held.id in ids(hub.messages.inbox(reviewer).result())


def test_a_request_to_where_its_chain_has_been_is_refused_with_the_chain(hub: Parts) -> None:
    lead, reviewer, fixer = (hub.agent(name) for name in ("lead", "reviewer", "fixer"))
    chain = f"{lead.id} {reviewer.id} {fixer.id}"
    refused = error_of(hub.messages.send(fixer, draft("Reviewer", path=chain)))
    assert isinstance(refused, RingDetected)
    assert "reviewer -> fixer -> reviewer" in refused.text
    assert refused.extras["nextAction"] == "answer_inbound"
    gone = error_of(hub.messages.send(fixer, draft("lead", path=f"{lead.id} agt_gone {fixer.id}")))
    assert "lead -> agt_gone -> fixer -> lead" in gone.text
    third = hub.agent("third")
    assert hub.send(fixer, "third", path=chain).path == chain
    assert hub.messages.inbox(third).result()[0].path == chain


def test_the_path_is_part_of_what_a_key_repeats(hub: Parts) -> None:
    lead, reviewer = hub.agent("lead"), hub.agent("reviewer")
    first = hub.send(lead, "reviewer", idempotency_key="k", path=lead.id)
    assert hub.send(lead, "reviewer", idempotency_key="k", path=lead.id) == first
    other = hub.messages.send(lead, draft("reviewer", idempotency_key="k"))
    assert error_of(other).code == "idempotency_conflict"
    assert reviewer.id


def test_what_an_adapter_reports_stands_in_the_trail_with_its_name(hub: Parts) -> None:
    lead, reviewer, third = (hub.agent(name) for name in ("lead", "reviewer", "third"))
    sent = hub.send(lead, "reviewer")
    message, fact = hub.facts.report(sent.id, reviewer, Observed.ANNOUNCED, "claude-code").result()
    assert (message.id, fact.observer, fact.detail) == (sent.id, "reviewer", "by claude-code")
    hub.messages.reply(sent.id, reviewer, "ok").result()
    hub.facts.report(sent.id, lead, Observed.NOT_ANNOUNCED, "codex", "the session is gone").result()
    told = hub.messages.trail(sent.id, lead).result()
    shown = [(fact.fact, fact.observer, fact.detail) for fact in told.facts]
    assert ("announced", "reviewer", "by claude-code") in shown
    assert ("not announced", "lead", "by codex: the session is gone") in shown
    assert "codex could not announce the reply to lead: the session is gone" in told.standing.why
    assert error_of(hub.facts.report(sent.id, third, Observed.READ, "x")).code == "message_forbidden"
