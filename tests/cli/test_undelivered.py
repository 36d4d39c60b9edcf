"""`kxm peer undelivered` and `resend`: nothing is sent twice, and what could not be sent again can be tried again."""

import json

import pytest

from tests.acceptance.shell import Shell
from tests.cli.conftest import ShellMaker
from tests.hub_process import Agent


@pytest.fixture
def lead(shell: ShellMaker) -> Shell:
    found = shell("lead")
    found.home.mkdir()
    return found


def send(lead: Shell, *words: str) -> str:
    return str(lead.peer("send", "reviewer", "look at this", *words).json["messageId"])


def test_only_what_nobody_has_taken_is_listed(lead: Shell, reviewer: Agent) -> None:
    taken, replied, waiting = send(lead), send(lead), send(lead)
    reviewer.acknowledge(taken)
    reviewer.reply(replied)
    assert [one["id"] for one in lead.peer("undelivered").json["messages"]] == [waiting]


def test_a_message_is_sent_again_with_all_that_it_said(lead: Shell, reviewer: Agent) -> None:
    old = send(lead, "--correlation-id", "release-7", "--delivery", "steer", "--ttl-ms", "120000")
    sent = lead.peer("resend", old).json
    assert (sent["replyTo"], sent["idempotent"], sent["target"]) == (old, False, "reviewer")
    new, before = reviewer.get(sent["messageId"]), reviewer.get(old)
    same = ("content", "delivery", "correlationId", "hops", "maxHops", "to", "from")
    assert {name: new[name] for name in same} == {name: before[name] for name in same}
    assert new["replyTo"] == old
    assert before["status"] == "cancelled"
    assert [one["id"] for one in reviewer.inbox()] == [new["id"]]


def test_the_same_command_again_sends_nothing_more(lead: Shell, reviewer: Agent) -> None:
    old = send(lead)
    first, second = lead.peer("resend", old).json, lead.peer("resend", old).json
    assert second["messageId"] == first["messageId"]
    assert second["idempotent"] is True
    assert len(reviewer.inbox()) == 1


def test_another_key_makes_another_message(lead: Shell, reviewer: Agent) -> None:
    old = send(lead)
    first = lead.peer("resend", old).json["messageId"]
    assert lead.peer("resend", old, "--idempotency-key", "once more").json["messageId"] != first


def test_what_expired_is_sent_again_for_the_same_span(lead: Shell, reviewer: Agent) -> None:
    old = send(lead, "--ttl-ms", "1000")
    assert reviewer.wait(old)["status"] == "expired"
    assert lead.peer("resend", old).json["status"] == "queued"


def test_an_offline_recipient_gets_it_when_it_is_back(lead: Shell, reviewer: Agent) -> None:
    old = send(lead)
    reviewer.leave()
    assert lead.peer("resend", old).json["status"] == "queued"


def test_a_reply_that_is_there_is_not_asked_for_again(lead: Shell, reviewer: Agent) -> None:
    old = send(lead)
    reviewer.reply(old)
    assert lead.peer("resend", old).detail == f"the message has its reply: kxm peer get {old}"
    assert reviewer.inbox() == []


def test_only_the_sender_sends_again(lead: Shell, reviewer: Agent) -> None:
    asked = reviewer.send("lead", allowOffline=True) if lead.peer("inbox").code == 0 else None
    assert asked is not None
    assert lead.peer("resend", asked["id"]).detail == "only its sender can send a message again"
    assert reviewer.get(asked["id"])["status"] == "queued"


def test_an_unknown_message_is_named_so(lead: Shell) -> None:
    assert lead.peer("resend", "msg_0").detail == "message not found"
    missing = lead.peer("resend")
    assert (missing.code, json.loads(missing.stderr)["detail"]) == (2, "messageId is required")
