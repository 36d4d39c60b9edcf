"""A machine of a network as the tests use it: one agent with a home of its own, on a real repository."""

import os
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from peerline.core.post_draft import PostDraft, draft
from peerline.network.clone import Clone, Surroundings
from peerline.network.engine import Engine
from peerline.network.inbox import InboxQuery
from peerline.network.place import Identity, MemorySubscriptions, Place
from peerline.network.reports import Sent
from tests.network.remotes import BareRemote


def now() -> int:
    return time.time_ns() // 1_000_000


def environment(home: Path, agent: str) -> dict[str, str]:
    home.mkdir(parents=True, exist_ok=True)
    return {
        "PATH": os.environ["PATH"],
        "HOME": str(home),
        "GIT_AUTHOR_NAME": agent,
        "GIT_AUTHOR_EMAIL": f"{agent}@example.test",
    }


@dataclass
class Node:
    engine: Engine
    agent: str
    folder: Path
    rooms: MemorySubscriptions

    def send(self, body: str, *mentions: str, room: str = "build", **fields: Any) -> Sent:
        return self.engine.send(written(body, *mentions, room=room, **fields))

    def sync(self) -> None:
        report = self.engine.sync()
        assert report.failed is None, report

    def inbox(self, **query: Any) -> list[str]:
        """What the pending items say, as they are ordered."""
        return [item.post.body.rstrip("\n") for item in self.engine.inbox(InboxQuery(**query)).items]


def written(body: str, *mentions: str, room: str = "build", **fields: Any) -> PostDraft:
    return draft(room=room, body=body, mentions=mentions, **fields)


def node(tmp: Path, remote: BareRemote | str, agent: str, *rooms: str, **around: Any) -> Node:
    home = tmp / agent
    followed = MemorySubscriptions(rooms)
    place = Place(folder=home / "networks" / "net", remote=getattr(remote, "url", str(remote)), network="net")
    environ = around.pop("environ", None) or environment(home, agent)
    surroundings = Surroundings(now=now, entropy=os.urandom, environ=environ)._replace(**around)
    identity = Identity(agent=agent, display_name=agent, human=agent.title())
    engine = Engine(Clone(place, identity, surroundings), followed)
    return Node(engine, agent, home, followed)


def founded(remote: BareRemote, *agents: str, rooms: tuple[str, ...] = ("build",), mode: str = "git") -> BareRemote:
    """A network made by hand: manifest, a card for each agent, rooms."""
    files: dict[str, bytes | None] = {
        ".komnet/net.yaml": f"v: 1\nid: net\nname: net\nprotocol_version: 1\nauthenticity: {mode}\n".encode()
    }
    for agent in agents:
        files[f"agents/{agent}.yaml"] = (
            f"v: 1\nid: {agent}\ndisplay_name: {agent}\nhuman:\n  name: {agent}\n  timezone: UTC\ntool: cli\n"
            f"git_author:\n  name: {agent}\n  email: {agent}@example.test\nsubscriptions: [{', '.join(rooms)}]\n"
            "presence:\n  status: away\n  last_seen: 2026-11-30T10:00:00.000Z\n"
        ).encode()
    for room in rooms:
        files[f"rooms/{room}/room.yaml"] = f"v: 1\nid: {room}\n".encode()
        remote.put_tree(f"room/{room}", remote.tree({}), f"komnet: open room {room}", orphan=True)
    remote.commit("main", files, "komnet: initialise network")
    return remote
