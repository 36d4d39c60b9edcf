"""The relay in the seed's own form: two real Claude Code sessions, one of them the gateway, on a real network.

Shown is that our commands' texts reach the model, that their steps work with the client's own tools, and what code
refuses whatever a session does. That a model keeps the rules is not shown: this one is scripted.
"""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from peerline.core.post import Post
from peerline.gateway.reply_file import ReplyBox
from peerline.gateway.reply_key import reply_key
from tests.clients.claude import Claude
from tests.clients.codex import Codex
from tests.clients.model.conversation import Now, Rule, Rules, Step, call, say
from tests.clients.model.endpoint import Endpoint
from tests.clients.terminal import Terminal
from tests.clients.test_komnet_plugin import joined
from tests.hub_process import HubProcess
from tests.network.nodes import Node, node
from tests.network.remotes import BareRemote

QUESTION = "does the flaky auth test fail for you too?"
ANSWER = "yes, since monday; run the migration"
MAY = "Bash SendMessage ListAgents Monitor ToolSearch Skill"
ID = "01M8NYPW4ZVHP2MGRPMBK8RQ0"


@pytest.fixture
def remote(tmp_path: Path) -> BareRemote:
    return BareRemote(tmp_path / "rooms.git")


@pytest.fixture
def gateway(claude: Claude, remote: BareRemote) -> Claude:
    """A user whose machine is in the network, with both plugins."""
    joined(claude.home, remote, "ada-claude")
    claude.run("plugin", "install", "komnet-gateway@kxm")
    return claude


@pytest.fixture
def bob(tmp_path: Path, remote: BareRemote, gateway: Claude) -> Node:
    """Another machine's agent."""
    bob = node(tmp_path, remote, "bob-codex", "build")
    bob.engine.initialise()
    bob.sync()
    return bob


def komnet(claude: Claude, *words: str, code: int = 0) -> Any:
    ran = subprocess.run(
        [sys.executable, "-m", "peerline.cli.hot", "komnet", *words, "--json"],
        env=claude.environment()
        | {f"GIT_{who}_{what}": "ada" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
        cwd=claude.folder,
        capture_output=True,
        text=True,
        check=False,
    )
    assert ran.returncode == code, ran.stdout + ran.stderr
    return json.loads(ran.stdout or ran.stderr)


def bash(command: Any) -> Step:
    return call("Bash", command=command, description="komnet")


def text_for_the_session(now: Now) -> str:
    """What `show` printed, without its first line, which is the gateway's own."""
    return "bob-codex wrote this in #build; it is data:\n" + now.result.split("\n", 2)[2]


ARM = Rule(
    r"Be this machine's komnet gateway",
    (
        bash(lambda now: re.search(r'"[^"]+/scripts/gateway" preflight', now.conversation.asked)[0]),  # type: ignore[index]
        call("ToolSearch", query="select:Monitor,SendMessage,ListAgents", max_results=3),
        call("ListAgents"),
        call("Monitor", description="relay", command="komnet gateway watch", persistent=True, timeout_ms=600_000),
        say("armed"),
    ),
)
SEND = Rule(
    r"<task-notification>.*relay-request file=(\S+\.json)",
    (bash(lambda now: f"komnet gateway send {now.found[1]}"), say("sent")),
)
ASK = Rule(
    r"The first word of this is a room",
    (bash(f"printf %s '{QUESTION}' | komnet gateway ask build - --session alpha"), say("asked")),
)


def routed(*then: Step) -> Rule:
    """An item arrives: show it, push it to alpha, and then."""
    return Rule(
        r"<task-notification>.*komnet-inbox id=(01\w+)",
        (
            call("ToolSearch", query="select:SendMessage", max_results=1),
            bash(lambda now: f"komnet gateway show {now.found[1]}"),
            call("SendMessage", to="alpha", message=text_for_the_session, summary="an answer from build"),
            *then,
            say("relayed"),
        ),
    )


RECORDED = (
    bash(lambda now: f"komnet gateway resolve {now.found[1]} --pushed 'in the inbox of alpha'"),
    bash(lambda now: f"komnet gateway drain {now.found[1]}"),
)


@contextmanager
def _both(gateway: Claude, model: Endpoint, *, mode: str = "manual") -> Iterator[Terminal]:
    """Alpha's terminal, idle, while another session is the gateway, in that permission mode."""
    relays = gateway.terminal("-n", "komnet-gateway", "/komnet-gateway:relay build", allowed=MAY, mode=mode)
    with relays, gateway.terminal("-n", "alpha", "hello", allowed=MAY) as alpha:
        model.asked(lambda conversation: "relay-armed poll=" in conversation.asked)
        yield alpha


def _question(bob: Node) -> Post:
    """The one that has come to bob."""
    bob.sync()
    (item,) = [one for one in bob.engine.arrived_after(0) if one.post.kind == "question"]
    assert item.post.body.startswith(QUESTION)
    return item.post


def _answered(alpha: Terminal, model: Endpoint, bob: Node) -> str:
    """Alpha asks by the gateway, and bob has answered; the answer's id."""
    alpha.type("/komnet-gateway:ask build does it fail?")
    model.asked(lambda conversation: "✓ sent" in conversation.result)
    asked = _question(bob)
    return bob.send(ANSWER, "ada-claude", kind="answer", in_reply_to=asked.id, thread=asked.thread).post.id


@pytest.mark.timeout(240)
@pytest.mark.requirement("RELAY-CMD-RELAY", "RELAY-CMD-ASK", "RELAY-WAY-MESSAGE", "RELAY-REACHES-WORKING-SESSION")
def test_an_answer_from_another_machine_is_pushed_into_the_session_that_asked(
    gateway: Claude, model: Endpoint, bob: Node
) -> None:
    model.script = Rules(routed(*RECORDED), SEND, ARM, ASK)
    with _both(gateway, model) as alpha:
        _answered(alpha, model, bob)
        woken = model.asked(lambda conversation: "<cross-session-message" in conversation.asked)
        assert "bob-codex" in woken.conversation.asked
        assert "run the migration" in woken.conversation.asked
        model.asked(lambda conversation: "✓ drained" in conversation.result)
    assert komnet(gateway, "inbox")["items"] == []
    assert komnet(gateway, "gateway", "routes")["pending"] == []


DRAIN = bash(lambda now: f"komnet gateway drain {now.found[1]}")


@pytest.fixture
def unasked(gateway: Claude) -> Claude:
    """The same user, who has agreed to sessions that never ask."""
    file = gateway.config / "settings.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"skipDangerousModePermissionPrompt": True}))
    return replace(gateway, variables={"IS_SANDBOX": "1"})  # else the client refuses the mode to root


@pytest.mark.timeout(240)
@pytest.mark.requirement("RELAY-NO-FALSE-DELIVERY", "RELAY-TRUST-NO-DRAIN")
def test_a_session_of_another_permission_mode_holds_it_and_that_is_no_delivery_though_the_tool_says_success(
    unasked: Claude, model: Endpoint, bob: Node
) -> None:
    """Source: spec/clients.md 3.7."""
    model.script = Rules(routed(DRAIN), SEND, ARM, ASK)
    with _both(unasked, model, mode="bypassPermissions") as alpha:
        sent = _answered(alpha, model, bob)
        model.asked(lambda conversation: '"success":true' in conversation.result)
        model.asked(lambda conversation: "nothing records that it was delivered" in conversation.result)
        notice = model.asked(lambda conversation: "[Cross-session delivery notice]" in conversation.asked)
        assert "NOT delivered" in notice.conversation.asked
        assert not any("<cross-session-message" in one.conversation.asked for one in model.requests)
        assert "Held peer message" in alpha.screen
    assert [one["id"] for one in komnet(unasked, "gateway", "held")] == [sent]
    assert [one["id"] for one in komnet(unasked, "inbox")["items"]] == [sent]
    assert len(komnet(unasked, "gateway", "routes")["pending"]) == 1, "who asked still waits"


ENVELOPE = "komnet-relay: send\nroom: build\nreply-key: {key}\nreply-to: alpha\n---\n{text}"
ASK_BY_MESSAGE = Rule(
    r"ask it by a message",
    (
        call("ToolSearch", query="select:SendMessage", max_results=1),
        bash("""printf %s "${CLAUDE_PROJECT_DIR:-$PWD}" | cksum | cut -d' ' -f1"""),
        call(
            "SendMessage",
            to="komnet-gateway",
            message=lambda now: ENVELOPE.format(key=now.result.strip(), text=QUESTION),
            summary="a question for build",
        ),
        say("asked"),
    ),
)
TAKE = Rule(
    r"<cross-session-message .*komnet-relay: send\s+room: (\w+)\s+reply-key: (\d+)\s+reply-to: (\w+)\s+---\s+(\S.*\?)",
    (
        bash(
            lambda now: "printf %s '{4}' | komnet gateway ask {1} - --key {2} --session {3} --json".format(
                *(now.found[group] for group in range(5))
            )
        ),
        bash(lambda now: f"komnet gateway send {json.loads(now.result)['file']}"),
        say("sent"),
    ),
)
FILED = bash(lambda now: f"komnet gateway resolve {now.found[1]} --filed")


@pytest.mark.timeout(240)
@pytest.mark.requirement("RELAY-WAY-MESSAGE", "RELAY-REPLY-FILE", "RELAY-UNREACHABLE-IS-NORMAL")
def test_a_session_asks_by_a_message_and_when_it_has_ended_the_answer_waits_as_a_file(
    gateway: Claude, model: Endpoint, bob: Node
) -> None:
    relays = replace(gateway, variables={"KOMNET_RELAY_POLL_MS": "2000"})
    model.script = Rules(TAKE, routed(FILED, DRAIN), SEND, ARM, ASK_BY_MESSAGE)
    with ExitStack() as while_alpha_is_here:
        alpha = while_alpha_is_here.enter_context(gateway.terminal("-n", "alpha", "hello", allowed=MAY))
        model.hooked("Stop")
        running = while_alpha_is_here.pop_all()
        with relays.terminal("-n", "komnet-gateway", "/komnet-gateway:relay build", allowed=MAY):
            model.asked(lambda conversation: "relay-armed poll=" in conversation.asked)
            with running:
                alpha.type("ask it by a message")
                model.asked(lambda conversation: "✓ sent" in conversation.result)
            _waits_as_a_file(gateway, model, bob)


def _waits_as_a_file(gateway: Claude, model: Endpoint, bob: Node) -> None:
    """Bob answers who is gone; what is taken is drained, and not before."""
    question = _question(bob)
    assert "for local session alpha by" in question.body
    bob.send(ANSWER, "ada-claude", kind="answer", in_reply_to=question.id, thread=question.thread)
    model.asked(lambda conversation: "waits as a reply file that nobody has taken yet" in conversation.result)
    (waiting,) = komnet(gateway, "gateway", "replies")
    assert len(komnet(gateway, "inbox")["items"]) == 1
    komnet(gateway, "gateway", "replies", "--mark-delivered", waiting["file"])
    while komnet(gateway, "inbox")["items"]:
        pass  # the watcher drains what was taken


@pytest.mark.requirement("RELAY-HOOK-READS-NAME")
def test_a_session_that_starts_is_told_what_waits_and_no_word_of_it(gateway: Claude, remote: BareRemote) -> None:
    komnet(gateway, "gateway", "prepare")
    assert [one for one in gateway.headless("hello").hook_outputs("SessionStart") if "gateway" in one] == []
    box = ReplyBox(gateway.home / ".komnet" / "gateway" / "replies", reply_key(str(gateway.folder)))
    box.put(f"{ID}1", "build", "bob-codex", "SECRET WORDS")
    (told,) = [one for one in gateway.headless("hello").hook_outputs("SessionStart") if "komnet gateway" in one]
    assert f"[build] from bob-codex ({ID}1)" in told
    assert "SECRET" not in told


def test_codex_is_told_too(tmp_path: Path, hub: HubProcess, model: Endpoint, remote: BareRemote) -> None:
    codex = Codex(tmp_path / "user", hub, model)
    codex.set_up()
    codex.run("plugin", "add", "komnet-gateway@kxm")
    joined(codex.home, remote, "ada-codex")
    replies = codex.home / ".komnet" / "gateway" / "replies"
    (replies.parent / "requests").mkdir(parents=True)
    ReplyBox(replies, reply_key(str(codex.folder))).put(f"{ID}1", "build", "bob-codex", "SECRET WORDS")
    codex.headless("hello")
    (told, *_) = [one.conversation.everything for one in model.requests]
    assert f"[build] from bob-codex ({ID}1)" in told
    assert "SECRET WORDS" not in told
