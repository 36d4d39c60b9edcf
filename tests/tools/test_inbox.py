"""The inbox and the outcomes of one's own requests, without a hub."""

import pytest

from peerline.client.records import Message
from peerline.tools.inbox import REMEMBERED, Inbox, Outcomes, Seen
from tests.mcp_stdio.records import a_message


def test_a_request_is_admitted_once() -> None:
    inbox = Inbox()
    assert inbox.admit(a_message())
    assert not inbox.admit(a_message())
    assert "msg_1" in inbox


@pytest.mark.requirement("MSG-CANCEL-CLAUDE")
def test_what_ended_before_its_news_came_is_not_admitted() -> None:
    inbox = Inbox()
    inbox.drop("msg_1")
    assert not inbox.admit(a_message())
    assert not inbox.admit(a_message(2, reply="done"))


def test_a_renewal_drops_what_the_hub_has_no_more_and_keeps_what_came_meanwhile() -> None:
    inbox = Inbox()
    inbox.admit(a_message(1))
    known = inbox.known()
    inbox.admit(a_message(2))
    inbox.drop("msg_4")
    assert [m.id for m in inbox.renew(known, (a_message(3), a_message(4)))] == ["msg_3"]
    assert inbox.known() == {"msg_2", "msg_3"}


@pytest.mark.requirement("MSG-HOP-CLAUDE-FURTHEST")
def test_the_furthest_request_is_the_one_with_the_longest_chain() -> None:
    inbox = Inbox()
    assert inbox.furthest() is None
    for number, hops in ((1, 0), (2, 3), (3, 1)):
        inbox.admit(a_message(number, hops=hops, max_hops=9))
    furthest = inbox.furthest()
    assert furthest is not None
    assert furthest.id == "msg_2"
    inbox.drop("msg_2")
    furthest = inbox.furthest()
    assert furthest is not None
    assert furthest.id == "msg_3"


class Told(list[str]):
    def __call__(self, message: Message) -> None:
        self.append(message.id)


def test_an_end_is_told_once() -> None:
    told = Told()
    outcomes = Outcomes(told)
    outcomes.ended(a_message(reply="yes"))
    outcomes.ended(a_message(reply="yes"))
    assert told == ["msg_1"]


def test_an_end_that_a_call_waits_for_is_the_calls_to_tell() -> None:
    told = Told()
    outcomes = Outcomes(told)
    with outcomes.waiting("msg_1"):
        outcomes.ended(a_message(reply="yes"))
        outcomes.read("msg_1")
    outcomes.ended(a_message(reply="yes"))
    assert told == []


def test_an_end_is_told_when_the_last_call_that_waited_gave_up() -> None:
    told = Told()
    outcomes = Outcomes(told)
    with outcomes.waiting("msg_1"):
        with outcomes.waiting("msg_1"):
            outcomes.ended(a_message(reply="yes"))
        assert told == []
    assert told == ["msg_1"]


def test_an_end_that_could_not_be_told_is_told_later() -> None:
    def broken(message: Message) -> None:
        raise BrokenPipeError

    outcomes = Outcomes(broken)
    with pytest.raises(BrokenPipeError):
        outcomes.ended(a_message(reply="yes"))
    with pytest.raises(BrokenPipeError):  # tried again, so it was not taken for told
        outcomes.ended(a_message(reply="yes"))


def test_memory_of_ids_is_bounded() -> None:
    seen = Seen()
    for number in range(REMEMBERED + 1):
        assert seen.add(str(number))
    assert "0" not in seen
    assert "1" in seen
