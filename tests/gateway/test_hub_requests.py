"""An address in a room as a target on the hub: out by the gateway, back as the reply of the very message that asked."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from peerline.client.hub import Hub
from peerline.core.errors import HumanNotHere, IdempotencyConflict, Invalid, TargetNotFound
from peerline.core.fence import unrender
from peerline.core.post import AuthorKind
from peerline.gateway.journal import WAITED_MS
from peerline.network.inbox import InboxQuery
from tests.gateway.hub import Line, gateway_on, session
from tests.gateway.stage import Ended, Stage, stage
from tests.gateway.test_hub_sessions import answered, hub
from tests.hub_process import HubProcess
from tests.network.remotes import BareRemote

__all__ = ["hub"]


@pytest.fixture
def line(hub: HubProcess, tmp_path: Path) -> Iterator[Line]:
    with gateway_on(hub, tmp_path / "gateway") as found:
        yield found


@contextmanager
def asking(
    hub: HubProcess, line: Line, name: str, target: str = "bob@build", body: str = "why?"
) -> Iterator[tuple[Hub, str]]:
    """A session and the message that it sent, once it is with the gateway."""
    with session(hub, name) as asker:
        sent = asker.send(target, body)
        assert sent.recipient_name == target
        line.wait(lambda: any(one.hub_message == sent.id for one in line.sessions.asked()))
        yield asker, sent.id


@pytest.mark.requirement(
    "RELAY-CLIENT-KNOWS-NOTHING", "RELAY-THREAD-RECORDED", "RELAY-SEND-THREAD-RECORDED", "RELAY-ROUTE-THREAD"
)
def test_the_networks_answer_is_the_reply_of_the_message_that_asked(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = stage(tmp_path, remote, line.sessions)
    with asking(hub, line, "asker-1") as (asker, asked):
        relay = here.relay()
        assert asker.trail(asked).standing.startswith("with the gateway")
        relay.step()
        trail = asker.trail(asked)
        assert trail.standing == "in the room's repository; bob@build has not answered yet"
        assert {fact.observer for fact in trail.facts} == {"hub", "komnet-gateway"}, "nobody there is known to have it"
        assert ("acknowledged", "komnet-gateway", "the room's remote has it") in [
            (fact.fact, fact.observer, fact.detail) for fact in trail.facts
        ]
        post = answered(here)
        relay.step()
        reply = asker.wait(asked).reply
        assert reply is not None
        assert unrender(reply.content) == "yes, since monday"
        assert f"from: bob; room: build; message: {post.id}" in reply.content
        relay.step()
        relay.step()
        assert here.pending() == []


def test_it_is_acknowledged_when_the_remote_has_the_post_and_not_before(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = stage(tmp_path, remote, line.sessions)
    with asking(hub, line, "asker-2") as (asker, asked):
        relay = here.relay()
        away = remote.path.rename(remote.path.with_name("away.git"))
        relay.step()
        relay.step()
        assert asker.get(asked).status == "queued"
        away.rename(remote.path)
        here.alice.sync()
        relay.step()
        assert asker.get(asked).status == "delivered"


@pytest.mark.requirement("RELAY-SCANNER-REPORTED", "RELAY-SEND-SUBSCRIBED-ONLY")
@pytest.mark.parametrize(
    ("name", "target", "body", "code"),
    [
        ("secret", "bob@build", "key AKIAABCDEFGHIJKLMNOP please", "SECRET_DETECTED"),
        ("room", "bob@elsewhere", "why?", "NOT_SUBSCRIBED"),
        ("network", "bob@build.nowhere", "why?", "UNKNOWN_NETWORK"),
        ("address", "komnet-gateway@", "why?", "INVALID_IDENTIFIER"),
    ],
)
def test_a_refusal_is_the_reply_with_its_code(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote, name: str, target: str, body: str, code: str
) -> None:
    here = stage(tmp_path, remote, line.sessions)
    with asking(hub, line, f"refused-{name}", target, body) as (asker, asked):
        here.relay().step()
        reply = asker.wait(asked).reply
        assert reply is not None
        assert reply.content.startswith(f"the komnet gateway did not send this ({code}): ")
        assert "AKIA" not in reply.content


def test_a_later_post_of_the_thread_is_a_message_of_its_own(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = stage(tmp_path, remote, line.sessions)
    with asking(hub, line, "asker-3") as (asker, asked):
        relay = here.relay()
        relay.step()
        post = answered(here)
        relay.step()
        here.bob.send("and on tuesday too", "alice", kind="answer", in_reply_to=post.thread, thread=post.thread)
        here.alice.sync()
        relay.step()
        assert asker.get(asked).status == "replied"
        (later,) = asker.inbox()
        assert (unrender(later.content), later.correlation_id) == ("and on tuesday too", post.thread)


def test_an_answer_that_comes_when_nobody_waits_any_more_is_marked_late(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = stage(tmp_path, remote, line.sessions)
    with asking(hub, line, "asker-4") as (asker, asked):
        relay = here.relay()
        relay.step()
        asker.cancel(asked)
        answered(here)
        relay.step()
        (late,) = asker.inbox()
        assert unrender(late.content) == "yes, since monday"
        assert "late: " in late.content.split("\n")[1]


def test_what_is_cancelled_before_the_gateway_sent_it_is_not_sent(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = stage(tmp_path, remote, line.sessions)
    with asking(hub, line, "asker-5") as (asker, asked):
        asker.cancel(asked)
        line.wait(lambda: not line.sessions.asked())
        here.relay().step()
        here.bob.sync()
        assert here.bob.inbox() == []


def test_without_a_gateway_an_address_is_no_target_and_with_allow_offline_it_waits_for_one(
    hub: HubProcess, tmp_path: Path
) -> None:
    with session(hub, "asker-6", "lonely") as asker:
        for offline in (False, True):
            with pytest.raises(TargetNotFound, match="online target not found: bob@build") as refused:
                asker.send("bob@build", "why?", allow_offline=offline)
            assert refused.value.extras["nextAction"] == "start_the_gateway"
        with gateway_on(hub, tmp_path / "gateway"):
            pass
        with pytest.raises(TargetNotFound):
            asker.send("bob@build", "why?")
        queued = asker.send("bob@build", "why?", allow_offline=True, idempotency_key="k")
        assert asker.send("bob@build", "why?", allow_offline=True, idempotency_key="k").id == queued.id
        assert asker.trail(queued.id).next == "its person starts it: komnet gateway run"
        with gateway_on(hub, tmp_path / "gateway") as line:
            line.wait(lambda: bool(line.sessions.asked()))
            asker.cancel(queued.id)


@pytest.mark.requirement("RELAY-ASK-HUMAN", "RELAY-ASK-EXPLICIT", "RELAY-TRUST-HUMAN-GATEWAY")
def test_a_request_may_ask_for_a_person_and_waits_there_for_one(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = stage(tmp_path, remote, line.sessions)
    with session(hub, "asks-a-person") as asker:
        asked = asker.send("bob@build", "may we delete it?", needs="human")
        assert asker.get(asked.id).needs == "human"
        line.wait(lambda: any(one.hub_message == asked.id for one in line.sessions.asked()))
        relay = here.relay()
        relay.step()
        here.bob.sync()
        (waiting,) = here.bob.engine.inbox(InboxQuery(needs="human")).items
        assert waiting.post.needs == "human"
        post = waiting.post
        here.bob.send("no", "alice", kind="answer", author=AuthorKind.HUMAN, in_reply_to=post.id, thread=post.thread)
        here.alice.sync()
        relay.step()
        reply = asker.wait(asked.id).reply
        assert reply is not None
        assert unrender(reply.content) == "no"


def test_no_agent_of_the_hub_is_asked_what_needs_a_human(hub: HubProcess, line: Line) -> None:
    with session(hub, "asks-nobody") as asker, session(hub, "no-person"):
        with pytest.raises(HumanNotHere, match="<agent>@<room>"):
            asker.send("no-person", "may we?", needs="human")
        assert asker.send("no-person", "may we?", needs="agent").needs is None
        for spelling in ("HUMAN", "Human", "person", "none", "", " human"):
            with pytest.raises(Invalid, match="needs must be agent or human"):
                asker.send("bob@build", "may we?", needs=spelling)


def test_a_retry_that_asks_for_another_is_another_request(hub: HubProcess, line: Line) -> None:
    with session(hub, "asks-twice") as asker:
        first = asker.send("bob@build", "why?", needs="human", idempotency_key="k")
        assert asker.send("bob@build", "why?", needs="human", idempotency_key="k").id == first.id
        with pytest.raises(IdempotencyConflict):
            asker.send("bob@build", "why?", idempotency_key="k")
        asker.cancel(first.id)


@pytest.mark.parametrize("ends_at", ["claimed", "sending", "sent", "told", "routed", "pushing", "pushed", "confirmed"])
def test_a_gateway_that_is_killed_after_any_step_sends_once_and_replies_once(
    start_hub: Callable[..., HubProcess], hub: HubProcess, tmp_path: Path, remote: BareRemote, ends_at: str
) -> None:
    """A restart is whole: what the gateway held in memory is gone, and the hub offers it again."""
    here, keys = stage(tmp_path, remote), tmp_path / "gateway"
    ended: list[str] = []

    def end(step: str) -> None:
        if step == ends_at and not ended:
            ended.append(step)
            raise Ended

    here.probe = end
    done = False
    with session(hub, f"killed-out-{ends_at}") as asker, gateway_on(hub, keys):
        asked = asker.send("bob@build", "does it fail for you too?").id
    with session(hub, f"killed-out-{ends_at}") as asker:
        for _ in range(4):
            with gateway_on(hub, keys) as line:
                if asker.get(asked).status == "queued":
                    line.wait(lambda: bool(line.sessions.asked()))
                here.hub = line.sessions
                relay = here.relay()
                try:
                    for _ in range(3):
                        relay.step()
                        if not done and asker.get(asked).status == "delivered":
                            answered(here)
                            done = True
                except Ended:
                    continue
            asker.get(asked)
        assert ended == [ends_at]
        here.bob.sync()
        assert len([one for one in here.bob.engine.history("build") if "relay" in one.post.tags]) == 1
        reply = asker.get(asked).reply
        assert reply is not None
        assert unrender(reply.content) == "yes, since monday"
        assert asker.inbox() == (), "replied and not pushed as well"
        assert here.states() == {}


def test_a_thread_is_remembered_as_long_as_its_message_lives(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here: Stage = stage(tmp_path, remote, line.sessions)
    with session(hub, "patient") as asker:
        asked = asker.send("bob@build", "why?", ttl_ms=5 * WAITED_MS).id
        line.wait(lambda: any(one.hub_message == asked for one in line.sessions.asked()))
        relay = here.relay()
        relay.step()
        here.time = 4 * WAITED_MS
        answered(here)
        relay.step()
        assert asker.get(asked).status == "replied"
