"""Two machines, two real clients, one repository: an idle session is woken by a question from the other machine, and
the one that asked, idle too, is woken by its answer."""

import json
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Final

import pytest

from peerline.core.fence import INTRODUCTION
from tests.clients import latency
from tests.clients.claude import Claude
from tests.clients.codex import Codex
from tests.clients.machines import Machine, machine
from tests.clients.model.conversation import Answer, Conversation, Now, Rule, Rules, call, say
from tests.clients.model.endpoint import Endpoint
from tests.clients.pi import Pi
from tests.clients.terminal import Terminal
from tests.clients.test_codex_wake_ups import NOTICE
from tests.clients.wake_ups import INTRODUCTION as INTRODUCED
from tests.clients.wake_ups import KNOWN, WAKE_UPS, named
from tests.hub_process import HubProcess, Project
from tests.network.remotes import BareRemote

QUESTION: Final = "Does the flaky auth test fail for you too? This is question"
ANSWER: Final = "Yes, since Monday; run the migration. This is answer"
PER_SESSION: Final = 8  # a session's monitor shows so many lines without a pause

ASKED = Rule(
    r"ask the other machine (\d+)",
    (call("kxm_send", target="bob@build", content=lambda now: f"{QUESTION} {now.found[1]}."), say("asked")),
)
TOLD = Rule(
    r"<task-notification>.*KXM reply to (msg_[0-9a-f]{32})", (call("kxm_get", messageId=named), say("read the answer"))
)


@pytest.fixture
def remote(tmp_path: Path) -> BareRemote:
    return BareRemote(tmp_path / "rooms.git")


@pytest.fixture
def far_model() -> Iterator[Endpoint]:
    with Endpoint() as endpoint:
        yield endpoint
    assert endpoint.faults == []


@pytest.fixture
def alice(claude: Claude, hub: HubProcess, model: Endpoint, remote: BareRemote) -> Machine:
    """Where Claude Code asks."""
    model.script = Rules(TOLD, ASKED)
    return machine(claude.home, hub, remote, "alice")


@pytest.fixture
def bob(tmp_path: Path, start_hub: Callable[..., HubProcess], alice: Machine, remote: BareRemote) -> Machine:
    """Where the session `builder` serves the room, on a hub of its own."""
    found = machine(tmp_path / "bob", start_hub(), remote, "bob")
    found.komnet("gateway", "prepare")
    found.komnet("gateway", "subscribe", "builder", "build", "--default")
    return found


@contextmanager
def idle_asker(claude: Claude, shop: Project) -> Iterator[Terminal]:
    """Claude Code in a terminal, on alice's hub, with nothing to do."""
    with shop.register("watcher").stream() as stream, claude.terminal() as terminal:
        while not ((agent := stream.next("presence").data["agent"])["name"] == "builder" and agent["online"]):
            pass
        yield terminal


def answer(now: Now) -> str:
    """To the newest question that the session was shown."""
    return f"{ANSWER} {re.findall(f'{re.escape(QUESTION)} ([0-9]+)', now.conversation.everything)[-1]}."


@dataclass(frozen=True, slots=True)
class Pair:
    terminal: Terminal
    model: Endpoint
    far_model: Endpoint
    alice: Machine

    def round(self, number: int) -> float:
        """One question and its answer; seconds from the far session's reply to the start of the asker's turn."""
        mark, far_mark = self.model.mark, self.far_model.mark
        self.terminal.type(f"ask the other machine {number}")
        asked = self.model.asked(lambda one: "msg_" in one.result, mark)
        sent = "msg_" + asked.conversation.result.partition("msg_")[2][:32]
        replied = self.far_model.asked(lambda one: f"{QUESTION} {number}." in one.everything, far_mark)
        assert "from: alice; room: build; message: " in replied.conversation.everything
        self.model.hooked("Stop", after=mark)
        woken = self.model.asked(lambda one: f"KXM reply to {sent}" in one.asked, mark)
        assert ANSWER not in woken.conversation.asked, "a line holds no body"
        self._check(
            number, sent, self.model.asked(lambda one: sent in one.asked and bool(one.result), mark).conversation
        )
        return woken.at - replied.at

    def _check(self, number: int, sent: str, read: Conversation) -> None:
        """What the asker was shown is the reply of its own message, and the answer that stands in the room."""
        record, end = json.JSONDecoder().raw_decode(read.result)
        assert (record["id"], record["toName"], record["status"]) == (sent, "bob@build", "replied")
        posts = self.alice.posts()
        question = next(post for post in posts if f"{QUESTION} {number}." in post["body"])
        (said,) = [post for post in posts if post["inReplyTo"] == question["id"]]
        assert (said["from"], said["kind"], said["tags"]) == ("bob", "answer", ["relay"])
        shown = read.result[end:].split("\n")
        assert shown.count(INTRODUCTION) == 1, "one fence, the reader's own"
        assert f"from: bob; room: build; message: {said['id']}; thread: {question['thread']}" in "\n".join(shown)
        assert f"│ {ANSWER} {number}." in shown
        assert "│ — relayed for local session builder by the komnet gateway" in shown


@pytest.mark.timeout(120 + 25 * PER_SESSION)
@pytest.mark.parametrize("first", range(0, WAKE_UPS, PER_SESSION))
@pytest.mark.requirement("RELAY-REACHES-WORKING-SESSION", "RELAY-TRUST-DATA", "RELAY-TRUST-ATTRIBUTION")
def test_pi_is_woken_on_its_machine_and_claude_code_is_woken_by_its_answer(
    claude: Claude,
    shop: Project,
    model: Endpoint,
    far_model: Endpoint,
    alice: Machine,
    bob: Machine,
    tmp_path: Path,
    first: int,
) -> None:
    far_model.script = Rules(Rule("brought by: komnet-gateway; request: msg_", (lambda now: Answer(answer(now)),)))
    here = idle_asker(claude, shop)
    with Pi(tmp_path / "pi", bob.hub, far_model), here as terminal, bob.running(), alice.running():
        pair = Pair(terminal, model, far_model, alice)
        for number in range(first, min(first + PER_SESSION, WAKE_UPS)):
            latency.took("Pi's reply to the start of Claude Code's turn on another machine", pair.round(number))
    assert model.faults == []


@pytest.mark.timeout(240)
def test_codex_is_woken_on_its_machine_and_claude_code_is_woken_by_its_answer(
    claude: Claude, shop: Project, model: Endpoint, far_model: Endpoint, alice: Machine, bob: Machine, tmp_path: Path
) -> None:
    steps = (call("kxm_inbox"), call("kxm_reply", messageId=named, content=answer), say("answered"))
    far_model.script = Rules(Rule(NOTICE + r"- request (msg_[0-9a-f]{32}) \(from: komnet-gateway\)", steps), INTRODUCED)
    codex = Codex(tmp_path / "codex", bob.hub, far_model)
    codex.set_up()
    with codex.terminal(KNOWN), idle_asker(claude, shop) as terminal:
        far_model.asked(lambda conversation: conversation.answered == 1)
        with bob.running(), alice.running():
            Pair(terminal, model, far_model, alice).round(0)
    assert model.faults == []
