"""Claude Code in a terminal, idle: a request wakes it, and so does the reply to what it asked."""

import itertools
import time
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.clients import latency
from tests.clients.claude import Claude
from tests.clients.conftest import WAKE_UPS
from tests.clients.model.conversation import Now, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.clients.terminal import Terminal
from tests.hub_process import Agent, Project

REQUEST = "The body of a request, for its recipient alone."
REPLY = "The body of a reply, for its asker alone."
# A round is two lines; a session's monitor shows eight without a pause.
PER_SESSION = 4
MORE_THAN_A_BURST = 12
_numbers = itertools.count()
EVENT = r"<task-notification>.*"


def _named(now: Now) -> str:
    return now.found[1]


SCRIPT = Rules(
    Rule(
        EVENT + r"KXM request (msg_[0-9a-f]{32}) from (lead[0-9]+)",
        (
            call("kxm_inbox"),
            call("kxm_reply", messageId=_named, content="answered by the model"),
            call("kxm_send", target=lambda now: now.found[2], content="a question of its own"),
            say("answered and asked"),
        ),
    ),
    Rule(EVENT + r"KXM reply to (msg_[0-9a-f]{32})", (call("kxm_get", messageId=_named), say("read the reply"))),
)


@contextmanager
def _idle_session(claude: Claude, shop: Project, **options: str) -> Iterator[Terminal]:
    """An interactive session that is on the hub and has nothing to do."""
    watcher = shop.register(f"watcher{next(_numbers)}")
    with watcher.stream() as stream, claude.terminal(**options) as terminal:
        while True:
            agent = stream.next("presence").data["agent"]
            if agent["name"] == "builder" and agent["online"]:
                break
        yield terminal


@pytest.mark.timeout(60 + 20 * WAKE_UPS)
@pytest.mark.parametrize("first", range(0, WAKE_UPS, PER_SESSION))
def test_a_request_wakes_an_idle_session_and_the_reply_wakes_the_asker(
    claude: Claude, model: Endpoint, shop: Project, first: int
) -> None:
    model.script = SCRIPT
    with _idle_session(claude, shop):
        for _ in range(first, min(first + PER_SESSION, WAKE_UPS)):
            # A peer of its own for each round: two agents that write to each other all the time are held back.
            lead = shop.register(f"lead{next(_numbers)}")
            with lead.stream() as stream:
                sent = _woken_by_a_request(model, lead)
                assert stream.next("reply").message["reply"]["content"] == "answered by the model"
                question = stream.next("message").message["id"]
                lead.acknowledge(question)
                _woken_by_the_reply(model, lead, question)
            facts = {fact["fact"] for fact in lead.call("GET", f"/v1/messages/{sent}/trail").json["facts"]}
            assert {"acknowledged", "announced", "in turn", "read", "replied"} <= facts


@pytest.mark.timeout(180)
def test_more_wake_ups_than_a_monitor_shows_at_once_come_all_the_same(
    claude: Claude, model: Endpoint, shop: Project
) -> None:
    model.script = SCRIPT
    with _idle_session(claude, shop):
        for _ in range(MORE_THAN_A_BURST):
            lead = shop.register(f"lead{next(_numbers)}")
            with lead.stream() as stream:
                sent = lead.send("builder", REQUEST)["id"]
                assert stream.next("reply").message["id"] == sent


def test_a_new_conversation_in_the_same_session_is_woken_too(claude: Claude, model: Endpoint, shop: Project) -> None:
    model.script = SCRIPT
    with _idle_session(claude, shop) as terminal:
        terminal.type("/clear")
        lead = shop.register(f"lead{next(_numbers)}")
        with lead.stream() as stream:
            _woken_by_a_request(model, lead)
            assert stream.next("reply").message["reply"]["content"] == "answered by the model"


def test_what_waited_before_the_session_began_wakes_it(claude: Claude, model: Endpoint, shop: Project) -> None:
    with _idle_session(claude, shop):
        pass
    model.script = SCRIPT
    lead = shop.register(f"lead{next(_numbers)}")
    sent = lead.send("builder", REQUEST, allowOffline=True)["id"]
    with lead.stream() as stream, claude.terminal():
        assert stream.next("reply").message["id"] == sent


def test_a_session_that_asks_its_user_first_is_not_told_as_busy(claude: Claude, model: Endpoint, shop: Project) -> None:
    model.script = SCRIPT
    lead = shop.register(f"lead{next(_numbers)}")
    with _idle_session(claude, shop, allowed="Read") as terminal:
        sent = lead.send("builder", REQUEST)["id"]
        model.hooked("PermissionRequest")
        trail = {"standing": ""}
        while "asks its user" not in trail["standing"]:  # the hook that reports it runs beside the one that told us
            lead.wait(sent, 200)
            trail = lead.call("GET", f"/v1/messages/{sent}/trail").json
        assert "builder's terminal" in trail["next"]
        terminal.press("Escape")


def _woken_by_a_request(model: Endpoint, lead: Agent) -> str:
    mark, sent_at = model.mark, time.monotonic()
    sent = str(lead.send("builder", REQUEST)["id"])
    woken = model.asked(lambda conversation: sent in conversation.asked, after=mark)
    latency.took("Claude Code, request sent to start of turn", woken.at - sent_at)
    assert REQUEST not in woken.conversation.asked, "a line holds no body"
    model.hooked("Stop", after=mark)
    return sent


def _woken_by_the_reply(model: Endpoint, lead: Agent, question: str) -> None:
    mark, sent_at = model.mark, time.monotonic()
    lead.reply(question, REPLY)
    woken = model.asked(lambda conversation: question in conversation.asked, after=mark)
    latency.took("Claude Code, reply sent to start of turn", woken.at - sent_at)
    assert REPLY not in woken.conversation.asked
    read = model.asked(lambda conversation: REPLY in conversation.result, after=mark)
    assert "│ " + REPLY in read.conversation.result, "inside the frame"
    model.hooked("Stop", after=mark)
