"""Agents in rooms as the hub knows them from the gateway: listed, never online; a lone name finds its one room."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from peerline.client.hub import Hub
from peerline.core.errors import GatewayOnly, TargetAmbiguous, TargetNotFound
from peerline.core.post import Kind, Post
from peerline.gateway.directory import usual_delays
from peerline.gateway.relay import Relay
from tests.gateway.hub import Line, gateway_on, session
from tests.gateway.stage import Stage, stage
from tests.gateway.test_hub_sessions import hub
from tests.hub_process import HubProcess
from tests.network.nodes import founded, node, written
from tests.network.remotes import BareRemote

__all__ = ["hub"]


@pytest.fixture
def line(hub: HubProcess, tmp_path: Path) -> Iterator[Line]:
    with gateway_on(hub, tmp_path / "gateway") as found:
        yield found


def told(here: Stage) -> Relay:
    relay = here.relay()
    relay.step()
    return relay


def remote_agents(asker: Hub) -> dict[str, object]:
    return {one.name: one.as_json() for one in asker.agents(include_remote=True) if one.remote}


def test_who_is_in_a_followed_room_is_listed_with_what_the_network_says_and_never_as_online(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = stage(tmp_path, remote, line.sessions)
    with session(hub, "lists") as asker:
        told(here)
        (bob,) = remote_agents(asker).values()
        assert bob == {
            "id": "bob@build",
            "name": "bob@build",
            "project": "shop",
            "room": "build",
            "network": "net",
            "remote": True,
            "presence": "away",
            "lastSeenAt": "2026-11-30T10:00:00.000Z",
        }
        assert not any(one.online for one in asker.agents(include_remote=True) if one.remote)
        assert [one.name for one in asker.agents() if one.remote] == []
        here.bob.send("here I am")
        here.alice.sync()
        told(here)
        assert "live" in str(remote_agents(asker)["bob@build"])


def test_without_its_gateway_a_project_lists_nobody_in_rooms(
    hub: HubProcess, tmp_path: Path, remote: BareRemote
) -> None:
    with session(hub, "lists-none") as asker:
        with gateway_on(hub, tmp_path / "gateway") as line:
            told(stage(tmp_path, remote, line.sessions))
            assert list(remote_agents(asker)) == ["bob@build"]
        assert remote_agents(asker) == {}


def test_only_the_gateway_says_who_is_in_the_rooms(hub: HubProcess) -> None:
    entry = {"name": "bob@build", "agent": "bob", "room": "build", "network": "net", "presence": "live"}
    with session(hub, "pretends") as agent, pytest.raises(GatewayOnly):
        agent.publish_remote([entry])


def test_a_lone_name_that_one_room_has_goes_there(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    here = stage(tmp_path, remote, line.sessions)
    with session(hub, "asks-alone") as asker:
        relay = told(here)
        sent = asker.send("Bob", "why?", idempotency_key="lone")
        assert sent.recipient_name == "bob@build"
        assert sent.remote is not None
        assert (sent.remote["presence"], sent.remote["follows"]) == ("away", "yes")
        assert asker.send("@build", "why?").remote is None
        assert asker.send("bob@attic", "why?").remote == {"follows": "no"} | {
            name: sent.remote[name] for name in ("presence", "lastSeenAt")
        }
        assert asker.send("nobody@build", "why?").remote == {"follows": "unknown"}
        assert asker.send("Bob", "why?", idempotency_key="lone").id == sent.id
        line.wait(lambda: any(one.hub_message == sent.id for one in line.sessions.asked()))
        relay.step()
        here.bob.sync()
        assert len(here.bob.inbox()) == 2  # to bob, and to everybody in the room
        with session(hub, "bob"):
            assert asker.send("bob", "why?").recipient_name == "bob"


def test_a_lone_name_that_several_rooms_have_is_refused_with_the_addresses(
    hub: HubProcess, line: Line, tmp_path: Path, remote: BareRemote
) -> None:
    founded(remote, "alice", "carol", rooms=("build", "release"))
    alice = node(tmp_path, remote, "alice", "build", "release")
    alice.sync()
    here = Stage(tmp_path / "home", alice, alice, line.sessions)
    with session(hub, "asks-which") as asker:
        told(here)
        with pytest.raises(TargetAmbiguous, match="carol@build or carol@release") as refused:
            asker.send("carol", "why?")
        assert refused.value.extras["candidates"] == ["carol@build", "carol@release"]
        with pytest.raises(TargetNotFound):
            asker.send("dave", "why?")
        assert asker.send("carol@release", "why?").recipient_name == "carol@release"


def test_the_usual_delay_is_the_median_of_what_answers_took() -> None:
    def post(id: str, ts: int, kind: Kind = Kind.QUESTION, to: str | None = None) -> Post:
        draft = written("x", kind=kind.value, in_reply_to=to)
        return draft.post(id=id, sender="bob" if to else "alice", ts=ts)

    ids = [f"01JABCDEFGHJKMNPQRSTVWXYZ{number}" for number in range(6)]
    posts = [post(ids[at], at * 1_000) for at in range(3)]
    posts += [post(ids[3 + at], 10_000 + at * 7_000, Kind.ANSWER, ids[at]) for at in range(3)]
    assert usual_delays(posts) == {"bob": 16_000}
    assert usual_delays(posts[:3]) == {}
