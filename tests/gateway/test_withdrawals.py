"""A cancelled request is taken out of the outbox, or withdrawn in its thread, once; an expired one is not."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from peerline.client.hub import Hub
from peerline.core.fence import unrender
from peerline.core.post import Post
from tests.gateway.hub import Line, gateway_on, session
from tests.gateway.stage import Ended, Stage, stage
from tests.gateway.test_hub_sessions import answered, hub
from tests.hub_process import HubProcess
from tests.network.nodes import node
from tests.network.remotes import BareRemote

__all__ = ["hub"]


@pytest.fixture
def line(hub: HubProcess, tmp_path: Path) -> Iterator[Line]:
    with gateway_on(hub, tmp_path / "gateway") as found:
        yield found


def asked(asker: Hub, line: Line, **options: int) -> str:
    sent = asker.send("bob@build", "why?", **options)  # type: ignore[arg-type]
    line.wait(lambda: any(one.hub_message == sent.id for one in line.sessions.asked()))
    return sent.id


def bobs(here: Stage) -> list[Post]:
    here.bob.sync()
    return [item.post for item in here.bob.engine.arrived_after(0)]


def test_before_the_remote_has_it_nobody_ever_sees_it(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = stage(tmp_path, remote, line.sessions)
    with session(hub, "changes-its-mind") as asker:
        request = asked(asker, line)
        relay = here.relay()
        away = remote.path.rename(remote.path.with_name("away.git"))
        relay.step()
        assert len(here.alice.engine.waiting()) == 1
        asker.cancel(request)
        relay.step()
        assert here.alice.engine.waiting() == []
        assert here.alice.engine.search("why") == []
        away.rename(remote.path)
        here.alice.sync()
        relay.step()
        assert bobs(here) == []
        assert here.alice.engine.read("build") == []
        again = asked(asker, line)
        relay.step()
        assert len(bobs(here)) == 1
        assert asker.get(again).status == "delivered"


def test_once_the_remote_has_it_the_thread_is_told_once(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = stage(tmp_path, remote, line.sessions)
    with session(hub, "too-late") as asker:
        request = asked(asker, line)
        relay = here.relay()
        relay.step()
        asker.cancel(request)
        for _ in range(3):
            relay.step()
        question, status = bobs(here)
        assert (status.kind, status.needs, status.in_reply_to, status.thread) == (
            "status",
            "none",
            question.id,
            question.thread,
        )
        assert status.mentions == ("bob",)
        assert status.body.startswith("withdrawn: ")
        answered(here)
        relay.step()
        (late,) = asker.inbox()
        assert unrender(late.content) == "yes, since monday"
        assert "late: " in late.content.split("\n")[1]
        here.relay().step()
        assert [post.kind for post in bobs(here)] == ["status"], "the question is answered"


def test_what_expired_is_said_nowhere_and_its_late_answer_is_kept_and_marked(
    start_hub: Callable[..., HubProcess], tmp_path: Path, remote: BareRemote
) -> None:
    hub = start_hub()
    with session(hub, "patient-no-more") as asker, gateway_on(hub, tmp_path / "gateway") as line:
        here = stage(tmp_path, remote, line.sessions)
        request = asked(asker, line, ttl_ms=3_000)
        relay = here.relay()
        relay.step()
        assert asker.wait(request).status == "expired"
        relay.step()
        relay.step()
        assert len(bobs(here)) == 1
        answered(here)
        relay.step()
        (late,) = asker.inbox()
        assert "late: " in late.content.split("\n")[1]
        asker.reply(late.id, "thanks all the same")
        relay.step()
        relay.step()
        assert here.pending() == []


@pytest.mark.parametrize("ends_at", ["withdrawing", "queued", "withdrawn"])
def test_a_gateway_that_is_killed_while_it_withdraws_says_it_once(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote, ends_at: str
) -> None:
    here, ended = stage(tmp_path, remote, line.sessions), list[str]()
    armed = False

    def end(step: str) -> None:
        if armed and step == ends_at and not ended:
            ended.append(step)
            raise Ended

    here.probe = end
    here.alice = node(tmp_path, remote, "alice", "build", probe=end)
    with session(hub, f"killed-withdrawing-{ends_at}") as asker:
        request = asked(asker, line)
        here.relay().step()
        asker.cancel(request)
        armed = True
        for _ in range(4):
            try:
                here.relay().step()
            except Ended:
                continue
        assert ended == [ends_at]
        here.alice.sync()
        assert [post.kind for post in bobs(here)] == ["question", "status"]


def test_what_a_lost_push_carried_after_all_is_withdrawn_in_the_room(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    """The push arrived, and the process ended before it knew."""
    here, ended = stage(tmp_path, remote, line.sessions), list[str]()

    def end(step: str) -> None:
        if step == "pushed" and not ended:
            ended.append(step)
            raise Ended

    here.alice = node(tmp_path, remote, "alice", "build", probe=end)
    with session(hub, "unlucky") as asker:
        request = asked(asker, line)
        with pytest.raises(Ended):
            here.relay().step()
        asker.cancel(request)
        here.alice = node(tmp_path, remote, "alice", "build")
        for _ in range(3):
            here.relay().step()
            here.alice.sync()
        assert [post.kind for post in bobs(here)] == ["question", "status"]
