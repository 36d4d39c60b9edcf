"""What the gateway does with the sessions on a real hub."""

import json
import stat
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from peerline.core.fence import render, unrender
from peerline.core.post import Post
from peerline.gateway.sessions import Away, Unreachable
from tests.gateway.hub import PROJECT, Line, gateway_on, session
from tests.gateway.stage import Ended, Stage, stage
from tests.hub_process import HubProcess
from tests.network.remotes import BareRemote

TEXT = render("yes, since monday", {"from": "bob"}, bytes(12))
AGAIN = render("yes, since monday", {"from": "bob"}, bytes(range(12)))


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    started = HubProcess(tmp_path_factory.mktemp("hub")).start()
    with session(started, "first"):
        pass  # the project is there from now on
    yield started
    started.stop()


@pytest.fixture
def line(hub: HubProcess, tmp_path: Path) -> Iterator[Line]:
    with gateway_on(hub, tmp_path / "gateway") as found:
        yield found


@pytest.mark.requirement("RELAY-REACHES-WORKING-SESSION", "RELAY-WAY-ORDER", "RELAY-REPLY-FILE-OR-PUSH")
def test_an_answer_is_pushed_to_the_session_that_asked_and_wakes_it(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = stage(tmp_path, remote, line.sessions)
    with session(hub) as asker:
        events = asker.events()
        here.ask()
        relay = here.relay()
        relay.step()
        answer = answered(here)
        relay.step()
        woken = next(event.message for event in events if event.message is not None)
        assert (woken.sender_name, woken.correlation_id) == ("komnet-gateway", answer.thread)
        assert unrender(woken.content) == "yes, since monday"
        assert here.box().waiting() == []
        assert here.pending() == ["yes, since monday"], "pushed is not confirmed"
        asker.report(woken.id, "in turn", adapter="test")
        relay.step()
        relay.step()
        assert here.pending() == []
        events.close()


def test_what_is_pushed_again_under_its_key_arrives_once_although_each_rendering_has_its_own_fence(
    hub: HubProcess, line: Line
) -> None:
    with session(hub, "again") as asker:
        first = line.sessions.push("again", None, TEXT, key="net:1", thread="t")
        assert line.sessions.push("again", None, AGAIN, key="net:1", thread="t") == first
        assert [message.id for message in asker.inbox()] == [first]


def test_a_reply_that_is_given_again_is_the_same_and_another_is_refused(hub: HubProcess, line: Line) -> None:
    with session(hub, "asker") as asker:
        asked = asker.send("komnet-gateway", "hello")
        assert line.sessions.reply(asked.id, TEXT) == asked.id
        assert line.sessions.reply(asked.id, AGAIN) == asked.id
        with pytest.raises(Unreachable, match="nobody waits"):
            line.sessions.reply(asked.id, render("no", {"from": "bob"}, bytes(12)))
        assert line.sessions.standing(asked.id) == "waiting"
        asker.get(asked.id)
        assert line.sessions.standing(asked.id) == "confirmed"


@pytest.mark.requirement("RELAY-NO-FALSE-DELIVERY", "RELAY-TRUST-DRAIN-AFTER")
@pytest.mark.parametrize("how", ["in turn", "read", "reply"])
def test_it_is_confirmed_by_what_its_reader_did(hub: HubProcess, line: Line, how: str) -> None:
    name = f"reads-{how.replace(' ', '-')}"
    with session(hub, name) as asker:
        pushed = line.sessions.push(name, None, TEXT, key=f"net:{how}", thread="t")
        asker.acknowledge(pushed, adapter="test")
        assert line.sessions.standing(pushed) == "waiting", "taken is not read"
        if how == "reply":
            asker.reply(pushed, "thanks")
        else:
            asker.report(pushed, how, adapter="test")  # type: ignore[arg-type]
        assert line.sessions.standing(pushed) == "confirmed"


@pytest.mark.parametrize("body", ["\n".join(["line"] * 9_000), "x" * 40_000, "\u202e" * 8_000], ids=len)
def test_what_is_too_long_for_a_message_is_cut_and_says_where_the_rest_is(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote, body: str
) -> None:
    here, name = stage(tmp_path, remote, line.sessions), f"long-{len(body)}"
    with session(hub, name) as asker:
        here.ask(session=name)
        relay = here.relay()
        relay.step()
        post = answered(here, body)
        relay.step()
        (pushed,) = asker.inbox()
        assert body.startswith(unrender(pushed.content))
        assert pushed.content.endswith(f"(the rest: komnet read build --thread {post.thread})")
        assert 8_000 < len(pushed.content) <= 32_000


def test_a_session_that_is_away_gets_it_when_it_comes(hub: HubProcess, line: Line) -> None:
    with session(hub, "away"):
        pass
    pushed = line.sessions.push("away", None, TEXT, key="net:away", thread="t")
    with session(hub, "away") as back:
        assert [message.id for message in back.inbox()] == [pushed]


def test_a_name_that_two_projects_have_is_named_with_its_project(hub: HubProcess, tmp_path: Path) -> None:
    with (
        session(hub, "twin"),
        session(hub, "twin", "other") as meant,
        gateway_on(hub, tmp_path / "gateway") as line,
    ):
        with pytest.raises(Unreachable, match="other/twin or shop/twin"):
            line.sessions.find("twin", None)
        line.sessions.find("twin", PROJECT)
        pushed = line.sessions.push("other/twin", None, TEXT, key="net:twin", thread="t")
        assert [message.id for message in meant.inbox()] == [pushed]


def test_a_session_that_nobody_knows_is_told_from_a_hub_that_is_not_there(
    start_hub: Callable[..., HubProcess], tmp_path: Path
) -> None:
    hub = start_hub()
    with session(hub), gateway_on(hub, tmp_path / "gateway") as line:
        with pytest.raises(Unreachable, match="knows no session") as unknown:
            line.sessions.find("nobody", None)
        assert not isinstance(unknown.value, Away)
        hub.stop()
        with pytest.raises(Away):
            line.sessions.find("backend-2e", None)


def test_a_gateway_that_was_killed_finds_back_at_once_by_what_it_kept(hub: HubProcess, tmp_path: Path) -> None:
    with gateway_on(hub, tmp_path / "gateway") as line:
        file = tmp_path / "gateway" / "hub-keys.json"
        assert stat.S_IMODE(file.stat().st_mode) == 0o600
        assert set(json.loads(file.read_text())["projects"][PROJECT]) == {"token", "key"}
        with gateway_on(hub, tmp_path / "gateway") as second:  # the first one still holds the name
            assert PROJECT in second.line.projects
        assert line.said == []


@pytest.mark.parametrize("ends_at", ["routed", "pushing", "pushed", "confirmed", "drained"])
def test_a_gateway_that_is_killed_while_it_pushes_pushes_once(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote, ends_at: str
) -> None:
    here, name = stage(tmp_path, remote, line.sessions), f"killed-{ends_at}"
    ended: list[str] = []

    def end(step: str) -> None:
        if step == ends_at and not ended:
            ended.append(step)
            raise Ended

    here.probe = end
    with session(hub, name) as asker:
        here.ask(session=name)
        relay = here.relay()
        relay.step()
        answered(here)
        for _ in range(6):
            try:
                relay.step()
            except Ended:
                relay = here.relay()
            for message in asker.inbox():
                asker.report(message.id, "in turn", adapter="test")
        assert ended == [ends_at]
        assert len(asker.inbox()) == 1
        assert here.states() == {}
        assert here.box().waiting() == []


def answered(here: Stage, body: str = "yes, since monday") -> Post:
    here.bob.sync()
    (item,) = [one for one in here.bob.engine.arrived_after(0) if one.post.kind == "question"]
    sent = here.bob.send(body, "alice", kind="answer", in_reply_to=item.post.id, thread=item.post.id)
    here.alice.sync()
    return sent.post
