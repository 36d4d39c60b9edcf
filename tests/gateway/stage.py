"""Two machines on one repository: alice's with a gateway, bob's without."""

import json
import os
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from peerline.core.directory import Remote
from peerline.gateway.journal import ItemRow, Journal
from peerline.gateway.place import GatewayPlace
from peerline.gateway.relay import Relay
from peerline.gateway.reply_file import ReplyBox
from peerline.gateway.request_file import Request, queue_request
from peerline.gateway.sessions import Asked, Away, Sessions, Standing, Unreachable
from peerline.network.home import Home
from tests.network.nodes import Node, founded, node, now
from tests.network.remotes import BareRemote

KEY = "458696773"


@dataclass
class Hub:
    """Sessions that are pushed to, as the relay's protocol has them; `here` are those that can be reached."""

    here: set[str] = field(default_factory=set)
    pushed: dict[str, tuple[str, str]] = field(default_factory=dict)
    replied: dict[str, str] = field(default_factory=dict)
    stands: dict[str, Standing] = field(default_factory=dict)

    def find(self, session: str, project: str | None) -> None:
        pass

    def push(self, session: str, project: str | None, text: str, *, key: str, thread: str) -> str:
        if session not in self.here:
            raise Unreachable(f"{session} is not here")
        self.pushed.setdefault(key, (session, text))
        return f"msg_{key}"

    def reply(self, hub_message: str, text: str) -> str:
        self.replied.setdefault(hub_message, text)
        return hub_message

    def standing(self, hub_message: str) -> Standing:
        return self.stands.get(hub_message, "waiting")

    def answer(self, hub_message: str) -> str | None:
        return None

    def asked(self) -> list[Asked]:
        return []

    def take(self, hub_message: str) -> None:
        raise Away("no message is for a room")

    def cancelled(self, hub_message: str) -> bool:
        return False

    def report(self, hub_message: str, fact: str, by: str, why: str) -> None:
        pass

    def publish(self, known: Sequence[Remote]) -> None:
        pass

    def ended(self, hub_message: str) -> bool:
        return True


class Ended(BaseException):
    """The process ends here."""


@dataclass
class Stage:
    folder: Path
    alice: Node
    bob: Node
    hub: Sessions
    told: list[tuple[str, str]] = field(default_factory=list)
    said: list[str] = field(default_factory=list)
    time: int = 0
    probe: Callable[[str], None] = lambda step: None

    @property
    def place(self) -> GatewayPlace:
        return GatewayPlace(Home(self.folder))

    def now(self) -> int:
        return now() + self.time

    def relay(self) -> Relay:
        """A gateway as it starts: all it knows is on the disk."""
        self.place.make()
        relay = Relay(
            self.place,
            Journal(self.place.journal, probe=self.probe),
            lambda: {"net": self.alice.engine},
            self.hub,
            now=self.now,
            entropy=bytes,
            tell=self._tell,
            say=self.said.append,
        )
        relay.adopt()
        return relay

    def journal(self) -> Journal:
        return Journal(self.place.journal)

    def ask(self, body: str = "does it fail for you too?", **changes: Any) -> str:
        """A session's request file; its stem."""
        values = {"session": "backend-2e", "reply_key": KEY, "room": "build", "queued_at": "", **changes}
        self.place.make()
        name = queue_request(self.place.requests, Request(body=body, **values), now=now(), entropy=os.urandom)
        return name.removesuffix(".json")

    def result(self, stem: str) -> dict[str, Any]:
        found: dict[str, Any] = json.loads((self.place.results / f"{stem}.json").read_text())
        return found

    def box(self, key: str = KEY) -> ReplyBox:
        return ReplyBox(self.place.replies, key)

    def pending(self) -> list[str]:
        return self.alice.inbox()

    def states(self) -> dict[str, str]:
        """The items' states by id."""
        return {row.id: row.state for row in self.journal().read(lambda tx: tx.items())}

    def _tell(self, row: ItemRow, why: str) -> None:
        self.told.append((row.id, why))


def stage(tmp: Path, remote: BareRemote, hub: Sessions | None = None) -> Stage:
    founded(remote, "alice", "bob")
    alice, bob = node(tmp, remote, "alice", "build"), node(tmp, remote, "bob", "build")
    for one in (alice, bob):
        one.sync()
    return Stage(tmp / "home", alice, bob, hub or Hub())
