"""What becomes of a post on the other machine stands in the asker's trail; where nothing happens nothing is written."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from peerline.client.hub import Hub
from peerline.client.records import Trail
from peerline.core.errors import GatewayOnly
from peerline.gateway.resolving import hand_to
from tests.gateway.hub import Line, gateway_on, session
from tests.gateway.stage import Hub as Sessions
from tests.gateway.stage import Stage, stage
from tests.gateway.test_hub_sessions import hub
from tests.hub_process import HubProcess
from tests.network.nodes import node
from tests.network.remotes import BareRemote

__all__ = ["hub"]


@pytest.fixture
def line(hub: HubProcess, tmp_path: Path) -> Iterator[Line]:
    with gateway_on(hub, tmp_path / "gateway") as found:
        yield found


class Both:
    """Alice's gateway with the asker on a hub, and bob's with sessions of its own."""

    def __init__(self, tmp_path: Path, remote: BareRemote, line: Line) -> None:
        self.here = stage(tmp_path, remote, line.sessions)
        self.there_sessions = Sessions()
        self.here.bob = node(tmp_path, remote, "bob", "build", now=self.now)
        self.there = Stage(tmp_path / "bobs-home", self.here.bob, self.here.alice, self.there_sessions)
        self.line, self.remote = line, remote

    def now(self) -> int:
        return self.here.now()

    def asked(self, asker: Hub, target: str = "bob@build", **options: str) -> str:
        sent = asker.send(target, "why?", **options)  # type: ignore[arg-type]
        self.line.wait(lambda: any(one.hub_message == sent.id for one in self.line.sessions.asked()))
        self.here.relay().step()
        return sent.id

    def round(self) -> None:
        """Both machines look and do what they can, a minute later."""
        self.there.time = self.here.time = self.here.time + 61_000
        self.here.bob.sync()
        self.there.relay().step()
        self.here.alice.sync()
        self.here.relay().step()

    def commits(self) -> int:
        return int(self.remote.sh("rev-list", "--all", "--count"))


def told(asker: Hub, request: str) -> tuple[str, str, bool]:
    trail: Trail = asker.trail(request)
    return trail.standing, trail.next, trail.stuck


def test_it_is_held_there_then_taken_then_in_a_turn(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    both = Both(tmp_path, remote, line)
    with session(hub, "wants-to-know") as asker:
        request = both.asked(asker)
        both.round()
        standing, _, stuck = told(asker, request)
        assert standing == "held by bob's gateway: «no session here asked in this thread or serves #build»"
        assert stuck
        item = both.there.journal().read(lambda tx: tx.items("held"))[0]
        hand_to(both.there.journal(), item.id, "backend", None, both.there.now())
        both.there_sessions.here.add("backend")
        both.round()
        assert told(asker, request)[0] == "taken by bob's gateway, not yet in a turn"
        (key,) = both.there_sessions.pushed
        both.there_sessions.stands[f"msg_{key}"] = "confirmed"
        both.round()
        both.round()
        assert told(asker, request) == (
            "in a turn at bob's machine, which has not replied yet",
            "wait; do not send it again",
            False,
        )
        facts = [fact.fact for fact in asker.trail(request).facts if fact.fact.endswith("there")]
        assert facts == ["held there", "taken there", "in turn there"]


def test_where_nothing_happens_there_is_no_commit_and_what_happens_is_told_once_a_minute(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    both = Both(tmp_path, remote, line)
    with session(hub, "asks-and-sleeps") as asker:
        both.asked(asker)
        both.round()
        both.round()
        before = both.commits()
        for _ in range(5):
            both.round()
        assert both.commits() == before
        both.asked(asker)
        both.asked(asker)
        both.here.bob.sync()
        told_of = both.commits()
        for _ in range(4):
            both.there.relay().step()  # within one minute
        assert both.commits() <= told_of + 1


def test_only_a_gateway_tells_of_the_far_side(hub: HubProcess, line: Line) -> None:
    with session(hub, "asks-a-liar") as asker, session(hub, "liar") as liar:
        asked = asker.send("liar", "why?")
        with pytest.raises(GatewayOnly):
            liar.report(asked.id, "in turn there", adapter="bob")


def test_a_remote_that_is_away_and_a_room_that_is_not_followed_are_told_apart(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    both = Both(tmp_path, remote, line)
    with session(hub, "told-apart") as asker:
        away = remote.path.rename(remote.path.with_name("away.git"))
        request = both.asked(asker)
        both.here.relay().step()
        assert told(asker, request)[0].startswith("with the gateway, which can't send it yet: ")
        away.rename(remote.path)
        nobody = both.asked(asker, "dave@build")
        both.round()
        assert told(asker, request)[0].startswith("held by bob's gateway")
        assert told(asker, nobody)[0].startswith("in the room's repository, and no card of dave is known here")
