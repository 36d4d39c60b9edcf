"""The state machine: the table against itself."""

from collections.abc import Callable
from itertools import product

import pytest

from peerline.core.errors import DuplicateReply, MessageForbidden, PeerlineError, SelfTarget, WrongState
from peerline.core.ids import AgentId, MessageId
from peerline.core.message import TRANSITIONS, Message, Status, Verb
from tests.hub.parts import draft

LEAD, REVIEWER, OTHER = AgentId("agt_lead"), AgentId("agt_reviewer"), AgentId("agt_other")


def a_message(status: Status = Status.QUEUED, expires_at: int = 1_000) -> Message:
    message = draft("reviewer").message(
        number=1,
        id=MessageId("msg_1"),
        project="demo",
        sender=LEAD,
        sender_name="lead",
        recipient=REVIEWER,
        recipient_name="reviewer",
        seq=1,
        now=0,
    )
    return message.changed(status=status, expires_at=expires_at)


MOVES: dict[Verb, Callable[[Message], Message]] = {
    Verb.ACKNOWLEDGE: lambda m: m.acknowledged(REVIEWER, 5),
    Verb.REPLY: lambda m: m.replied(REVIEWER, "done", 5),
    Verb.CANCEL: lambda m: m.cancelled(LEAD, 5),
    Verb.EXPIRE: lambda m: m.expired(1_000),
}


@pytest.mark.parametrize(("status", "verb"), list(product(Status, [Verb.ACKNOWLEDGE, Verb.REPLY, Verb.CANCEL])))
def test_every_pair_of_status_and_verb_is_either_listed_or_refused(status: Status, verb: Verb) -> None:
    message = a_message(status)
    expected = TRANSITIONS.get((status, verb))
    if expected:
        assert MOVES[verb](message).status is expected
    else:
        with pytest.raises((WrongState, DuplicateReply)):
            MOVES[verb](message)


@pytest.mark.parametrize("status", list(Status))
def test_only_an_open_message_expires_and_only_when_its_time_is_over(status: Status) -> None:
    message = a_message(status, expires_at=1_000)
    assert message.expired(999) is message
    after = message.expired(1_000)
    assert (after.status == Status.EXPIRED) == (status in (Status.QUEUED, Status.DELIVERED, Status.EXPIRED))
    assert (after is message) == (status not in (Status.QUEUED, Status.DELIVERED))


def test_what_a_final_message_holds_never_changes_again() -> None:
    for status, move in product((Status.REPLIED, Status.CANCELLED, Status.EXPIRED), MOVES.values()):
        message = a_message(status)
        try:
            assert move(message) == message
        except PeerlineError:
            pass


@pytest.mark.parametrize("verb", [Verb.ACKNOWLEDGE, Verb.REPLY, Verb.CANCEL])
@pytest.mark.parametrize("caller", [LEAD, REVIEWER, OTHER])
def test_only_the_right_end_may_move_a_message(verb: Verb, caller: AgentId) -> None:
    acts: dict[Verb, Callable[[Message], Message]] = {
        Verb.ACKNOWLEDGE: lambda m: m.acknowledged(caller, 5),
        Verb.REPLY: lambda m: m.replied(caller, "x", 5),
        Verb.CANCEL: lambda m: m.cancelled(caller, 5),
    }
    right = LEAD if verb is Verb.CANCEL else REVIEWER
    if caller == right:
        acts[verb](a_message())
    else:
        with pytest.raises(MessageForbidden):
            acts[verb](a_message())


def test_a_second_acknowledgement_keeps_the_first_ones_time() -> None:
    taken = a_message().acknowledged(REVIEWER, 5)
    assert taken.delivered_at == 5
    assert taken.acknowledged(REVIEWER, 9) is taken


def test_a_stranger_sees_nothing() -> None:
    with pytest.raises(MessageForbidden, match="message is not visible to this agent"):
        a_message().seen_by(OTHER)


def test_nobody_sends_to_itself() -> None:
    with pytest.raises(SelfTarget):
        draft("lead").message(
            number=1,
            id=MessageId("msg_1"),
            project="demo",
            sender=LEAD,
            sender_name="lead",
            recipient=LEAD,
            recipient_name="lead",
            seq=1,
            now=0,
        )


@pytest.mark.parametrize(
    ("status", "verb", "text"),
    [
        (Status.REPLIED, Verb.CANCEL, "cannot cancel a replied message"),
        (Status.CANCELLED, Verb.REPLY, "cannot reply to a cancelled message"),
        (Status.EXPIRED, Verb.ACKNOWLEDGE, "cannot acknowledge a expired message"),
    ],
)
def test_the_texts_of_a_wrong_state_are_the_contracts(status: Status, verb: Verb, text: str) -> None:
    with pytest.raises(WrongState) as refused:
        MOVES[verb](a_message(status))
    assert refused.value.text == text
    assert refused.value.code == "invalid_message_state"
