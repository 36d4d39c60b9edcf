"""Codex in a terminal, idle: a request wakes it, and so does the reply to what it asked, through `codex queue`."""

import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from peerline.mcp_stdio.codex_queue import NO_TURN
from tests.clients import latency
from tests.clients.codex import Codex, announcements
from tests.clients.conftest import WAKE_UPS
from tests.clients.model.conversation import Now, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.clients.terminal import Terminal
from tests.hub_process import Agent, HubProcess, Project

REQUEST = "The body of a request, for its recipient alone."
REPLY = "The body of a reply, for its asker alone."
NOTICE = r"KXM, a notice of your MCP server and not your user's words:.*"


def _named(now: Now) -> str:
    return now.found[1]


SCRIPT = Rules(
    Rule(
        NOTICE + r"- request (msg_[0-9a-f]{32}) \(from: (lead[0-9]+)\)",
        (
            call("kxm_inbox"),
            call("kxm_reply", messageId=_named, content="answered by the model"),
            call("kxm_send", target=lambda now: now.found[2], content="a question of its own"),
            say("answered and asked"),
        ),
    ),
    Rule(NOTICE + r"- reply to (msg_[0-9a-f]{32})", (call("kxm_get", messageId=_named), say("read the reply"))),
    Rule("make yourself known", (call("kxm_list"), say("here I am"))),
)


@pytest.fixture
def session(tmp_path: Path, hub: HubProcess, model: Endpoint, shop: Project) -> Iterator[Terminal]:
    """An interactive session that has done a first turn and has nothing to do."""
    model.script = SCRIPT
    codex = Codex(tmp_path / "user", hub, model, project=shop.name)
    codex.set_up()
    with codex.terminal("make yourself known") as terminal:
        model.asked(lambda conversation: conversation.answered == 1)
        yield terminal
    assert model.faults == []


@pytest.mark.timeout(60 + 20 * WAKE_UPS)
def test_a_request_wakes_an_idle_session_and_the_reply_wakes_the_asker(
    session: Terminal, model: Endpoint, shop: Project
) -> None:
    for number in range(WAKE_UPS):
        # A peer of its own for each round: two agents that write to each other all the time are held back.
        lead = shop.register(f"lead{number}")
        with lead.stream() as stream:
            sent = _woken_by_a_request(model, lead)
            assert stream.next("reply").message["reply"]["content"] == "answered by the model"
            question = stream.next("message").message["id"]
            lead.acknowledge(question)
            _woken_by_the_reply(model, lead, question)
        facts = {fact["fact"] for fact in lead.call("GET", f"/v1/messages/{sent}/trail").json["facts"]}
        assert {"acknowledged", "announced", "in turn", "replied"} <= facts


def test_what_comes_before_the_first_turn_is_named_in_it(
    tmp_path: Path, hub: HubProcess, model: Endpoint, shop: Project
) -> None:
    model.script = SCRIPT
    codex = Codex(tmp_path / "user", hub, model, project=shop.name)
    codex.set_up()
    lead = shop.register("lead")
    with lead.stream() as stream, codex.terminal() as terminal:
        stream.next("presence")
        sent = lead.send("builder", REQUEST)["id"]
        assert announcements(lead, sent) == [f"by codex queue: {NO_TURN}"]
        terminal.press("make yourself known")
        while "make yourself known" not in terminal.screen:
            pass  # an Enter that comes with the text counts as a line of a pasted one
        terminal.press("Enter")
        first = model.asked(lambda conversation: True).conversation
    assert sent in first.asked
    assert REQUEST not in first.everything


def _woken_by_a_request(model: Endpoint, lead: Agent) -> str:
    mark, sent_at = model.mark, time.monotonic()
    sent = str(lead.send("builder", REQUEST)["id"])
    woken = model.asked(lambda conversation: sent in conversation.asked, after=mark)
    latency.took("Codex, request sent to start of turn", woken.at - sent_at)
    assert REQUEST not in woken.conversation.asked, "a line holds no body"
    return sent


def _woken_by_the_reply(model: Endpoint, lead: Agent, question: str) -> None:
    mark, sent_at = model.mark, time.monotonic()
    lead.reply(question, REPLY)
    woken = model.asked(lambda conversation: question in conversation.asked, after=mark)
    latency.took("Codex, reply sent to start of turn", woken.at - sent_at)
    assert REPLY not in woken.conversation.asked
    read = model.asked(lambda conversation: REPLY in conversation.result, after=mark)
    assert "│ " + REPLY in read.conversation.result, "inside the frame"
