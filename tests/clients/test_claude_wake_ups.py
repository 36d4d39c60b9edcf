"""Claude Code in a terminal, idle: a request wakes it, and so does the reply to what it asked."""

import re
from collections.abc import Iterator
from contextlib import contextmanager

import pytest

from tests.clients.claude import Claude
from tests.clients.model.conversation import Answer, Call, Conversation
from tests.clients.model.endpoint import Endpoint
from tests.clients.terminal import Terminal
from tests.clients.wake_ups import ANSWER, REQUEST, WAKE_UPS, WakeUps, script
from tests.hub_process import Project

# A round is two lines; a session's monitor shows eight without a pause.
PER_SESSION = 4
MORE_THAN_A_BURST = 12
EVENT = r"<task-notification>.*"
SCRIPT = script(EVENT + r"KXM request (msg_[0-9a-f]{32}) from (lead[0-9]+)", EVENT + r"KXM reply to (msg_[0-9a-f]{32})")


@pytest.fixture
def wake_ups(model: Endpoint, shop: Project) -> WakeUps:
    return WakeUps("Claude Code", model, shop, rest=lambda mark: model.hooked("Stop", after=mark))


@contextmanager
def _idle_session(claude: Claude, shop: Project, **options: str) -> Iterator[Terminal]:
    """An interactive session that is on the hub and has nothing to do."""
    watcher = shop.register("watcher")
    with watcher.stream() as stream, claude.terminal(**options) as terminal:
        while True:
            agent = stream.next("presence").data["agent"]
            if agent["name"] == "builder" and agent["online"]:
                break
        yield terminal


@pytest.mark.timeout(60 + 20 * WAKE_UPS)
@pytest.mark.parametrize("first", range(0, WAKE_UPS, PER_SESSION))
def test_a_request_wakes_an_idle_session_and_the_reply_wakes_the_asker(
    claude: Claude, model: Endpoint, shop: Project, wake_ups: WakeUps, first: int
) -> None:
    model.script = SCRIPT
    with _idle_session(claude, shop):
        for _ in range(first, min(first + PER_SESSION, WAKE_UPS)):
            assert {"acknowledged", "announced", "in turn", "read", "replied"} <= wake_ups.round()


class Replying:
    """It answers each request that the session was told of, once, also one that joins a turn that is ending."""

    def __init__(self) -> None:
        self._replied: set[str] = set()

    def __call__(self, conversation: Conversation) -> Answer:
        for told in re.findall(r"KXM request (msg_[0-9a-f]{32}) from lead", conversation.asked):
            if told not in self._replied:
                self._replied.add(told)
                return Answer(calls=(Call("kxm_reply", {"messageId": told, "content": ANSWER}),))
        return Answer("OK")


@pytest.mark.timeout(180)
def test_more_wake_ups_than_a_monitor_shows_at_once_come_all_the_same(
    claude: Claude, model: Endpoint, shop: Project, wake_ups: WakeUps
) -> None:
    model.script = Replying()
    with _idle_session(claude, shop):
        for _ in range(MORE_THAN_A_BURST):
            lead = wake_ups.peer()
            with lead.stream() as stream:
                sent = lead.send("builder", REQUEST)["id"]
                assert stream.next("reply").message["id"] == sent


def test_a_new_conversation_in_the_same_session_is_woken_too(
    claude: Claude, model: Endpoint, shop: Project, wake_ups: WakeUps
) -> None:
    model.script = SCRIPT
    with _idle_session(claude, shop) as terminal:
        terminal.type("/clear")
        lead = wake_ups.peer()
        with lead.stream() as stream:
            wake_ups.by_a_request(lead)
            assert stream.next("reply").message["reply"]["content"] == ANSWER


def test_what_waited_before_the_session_began_wakes_it(
    claude: Claude, model: Endpoint, shop: Project, wake_ups: WakeUps
) -> None:
    with _idle_session(claude, shop):
        pass
    model.script = SCRIPT
    lead = wake_ups.peer()
    sent = lead.send("builder", REQUEST, allowOffline=True)["id"]
    with lead.stream() as stream, claude.terminal():
        assert stream.next("reply").message["id"] == sent


def test_a_session_that_asks_its_user_first_is_not_told_as_busy(
    claude: Claude, model: Endpoint, shop: Project, wake_ups: WakeUps
) -> None:
    model.script = SCRIPT
    lead = wake_ups.peer()
    with _idle_session(claude, shop, allowed="Read") as terminal:
        sent = lead.send("builder", REQUEST)["id"]
        model.hooked("PermissionRequest")
        trail = {"standing": ""}
        while "asks its user" not in trail["standing"]:  # the hook that reports it runs beside the one that told us
            lead.wait(sent, 200)
            trail = lead.call("GET", f"/v1/messages/{sent}/trail").json
        assert "builder's terminal" in trail["next"]
        terminal.press("Escape")
