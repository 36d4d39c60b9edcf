"""A room that a session serves: what it replies to a pushed question is the answer in the room's thread, once."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from peerline.core.fence import unrender
from peerline.core.post import Post
from tests.gateway.hub import Line, gateway_on, session
from tests.gateway.stage import Ended, Stage, stage
from tests.gateway.test_hub_sessions import hub
from tests.hub_process import HubProcess
from tests.network.nodes import node
from tests.network.remotes import BareRemote

__all__ = ["hub"]

SECRET = "use AKIAABCDEFGHIJKLMNOP"
SIGNED = "\n\n— relayed for local session {} by the komnet gateway\n"


@pytest.fixture
def line(hub: HubProcess, tmp_path: Path) -> Iterator[Line]:
    with gateway_on(hub, tmp_path / "gateway") as found:
        yield found


def serving(tmp_path: Path, remote: BareRemote, line: Line, name: str) -> Stage:
    here = stage(tmp_path, remote, line.sessions)
    here.relay()
    here.journal().write(lambda tx: tx.subscribe(name, "build", default=True))
    return here


def asked(here: Stage, body: str = "which branch?", **fields: object) -> Post:
    """Bob asks alice in the room, and it is on her machine."""
    sent = here.bob.send(body, "alice", **{"kind": "question", "needs": "agent", **fields})  # type: ignore[arg-type]
    here.alice.sync()
    return sent.post


def bobs(here: Stage) -> list[Post]:
    here.bob.sync()
    return [item.post for item in here.bob.engine.arrived_after(0)]


@pytest.mark.requirement("RELAY-ROUTE-ROOM", "RELAY-TRUST-ATTRIBUTION", "RELAY-TRUST-TAG")
def test_the_reply_is_the_answer_in_the_rooms_thread(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = serving(tmp_path, remote, line, "serves")
    question = asked(here)
    with session(hub, "serves") as agent:
        relay = here.relay()
        relay.step()
        (pushed,) = agent.inbox()
        assert unrender(pushed.content) == "which branch?"
        assert 'your reply: "becomes the answer in room build"' in pushed.content.split("\n")[1]
        relay.step()
        assert bobs(here) == [], "nothing is said before it replied"
        agent.reply(pushed.id, "main, since monday")
        relay.step()
        (answer,) = bobs(here)
        assert answer.body == "main, since monday" + SIGNED.format("serves")
        assert (answer.kind, answer.needs, answer.in_reply_to, answer.thread, answer.mentions, answer.tags) == (
            "answer",
            "none",
            question.id,
            question.thread,
            ("bob",),
            ("relay",),
        )
        relay.step()
        relay.step()
        assert len(bobs(here)) == 1
        assert here.pending() == []
        assert here.states() == {}


def test_what_came_as_an_answer_or_a_status_is_not_answered_again(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = serving(tmp_path, remote, line, "polite")
    asked(here, "done", kind="status", needs="none")
    asked(here, "yes", kind="answer", needs="none")
    with session(hub, "polite") as agent:
        relay = here.relay()
        relay.step()
        for pushed in agent.inbox():
            assert "your reply" not in pushed.content
            agent.reply(pushed.id, "thanks")
        relay.step()
        relay.step()
        assert bobs(here) == []
        assert here.states() == {}


@pytest.mark.requirement("RELAY-SCANNER-REPORTED", "RELAY-TRUST-NO-FORCE-UNSAFE")
def test_a_secret_comes_back_to_the_agent_and_its_next_words_are_the_answer(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = serving(tmp_path, remote, line, "careless")
    asked(here)
    with session(hub, "careless") as agent:
        relay = here.relay()
        relay.step()
        (pushed,) = agent.inbox()
        agent.reply(pushed.id, SECRET)
        relay.step()
        relay.step()
        (refusal,) = agent.inbox()
        assert "(SECRET_DETECTED)" in refusal.content
        assert "aws-access-key-id" in refusal.content
        assert "AKIA" not in refusal.content
        assert refusal.correlation_id == pushed.correlation_id
        assert bobs(here) == []
        agent.reply(refusal.id, "ask the vault")
        relay.step()
        assert [post.body for post in bobs(here)] == ["ask the vault" + SIGNED.format("careless")]


def test_an_agent_that_says_the_secret_again_and_again_is_told_so_often_and_no_more(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = serving(tmp_path, remote, line, "stubborn")
    asked(here)
    with session(hub, "stubborn") as agent:
        relay = here.relay()
        for _ in range(6):
            relay.step()
            for message in agent.inbox():
                agent.reply(message.id, SECRET)
        assert agent.inbox() == ()
        assert bobs(here) == []
        last = line.line.call("shop", lambda hub: hub.sent(limit=1))[0]
        assert last.content.endswith("Nothing more is sent for it; show your user what you wanted to say.")
        assert sum(1 for line in here.said if line.startswith("relay-refused")) == 3


def test_a_spent_reply_budget_comes_back_to_the_agent(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = serving(tmp_path, remote, line, "talks")
    first = asked(here, "1")
    with session(hub, "talks") as agent:
        relay = here.relay()
        for number in range(2, 12):
            asked(here, str(number), in_reply_to=first.id, thread=first.thread)
        relay.step()
        agent.reply(agent.inbox()[-1].id, "twelve")
        relay.step()
        relay.step()
        refusal = agent.inbox()[-1]
        assert "(REPLY_BUDGET_EXCEEDED)" in refusal.content
        assert bobs(here) == []


def test_a_person_who_was_faster_has_answered(hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote) -> None:
    here = serving(tmp_path, remote, line, "slower")
    question = asked(here)
    with session(hub, "slower") as agent:
        relay = here.relay()
        relay.step()
        (pushed,) = agent.inbox()
        here.alice.send("mine", "bob", kind="answer", in_reply_to=question.id, thread=question.thread)
        agent.reply(pushed.id, "mine too")
        relay.step()
        relay.step()
        (refusal,) = agent.inbox()
        assert "(ANSWERED_ALREADY)" in refusal.content
        assert [post.body for post in bobs(here)] == ["mine\n"]


def test_what_nobody_replied_to_ends_without_a_word(
    start_hub: Callable[..., HubProcess], tmp_path: Path, remote: BareRemote
) -> None:
    hub = start_hub(KXM_MESSAGE_TTL_MS="1000")
    with session(hub, "silent") as agent, gateway_on(hub, tmp_path / "gateway") as line:
        here = serving(tmp_path, remote, line, "silent")
        asked(here)
        relay = here.relay()
        relay.step()
        (pushed,) = agent.inbox()
        assert agent.wait(pushed.id).status == "expired"
        relay.step()
        assert here.journal().read(lambda tx: tx.answers("net", "over"))
        assert bobs(here) == []


@pytest.mark.parametrize("ends_at", ["pushed", "answering", "queued", "answered", "answer refused", "answer told"])
def test_a_gateway_that_is_killed_after_any_step_answers_once(
    hub: HubProcess, tmp_path: Path, remote: BareRemote, ends_at: str
) -> None:
    name, keys, ended = f"killed-{ends_at.replace(' ', '-')}", tmp_path / "gateway", list[str]()

    def end(step: str) -> None:
        if step == ends_at and not ended:
            ended.append(step)
            raise Ended

    with gateway_on(hub, keys) as line:
        here = serving(tmp_path, remote, line, name)
    here.probe = end
    here.alice = node(tmp_path, remote, "alice", "build", probe=end)
    asked(here)
    with session(hub, name) as agent:
        for _ in range(5):
            with gateway_on(hub, keys) as line:
                here.hub = line.sessions
                try:
                    for _ in range(2):
                        here.relay().step()
                        for message in agent.inbox():
                            first = "did not send" not in message.content
                            agent.reply(message.id, SECRET if first and ends_at.startswith("answer ") else "main")
                except Ended:
                    continue
        assert ended == [ends_at]
        here.alice.sync()  # as the loop does; what was queued goes out
        assert [post.body for post in bobs(here)] == ["main" + SIGNED.format(name)]
        assert agent.inbox() == ()
        assert here.states() == {}
