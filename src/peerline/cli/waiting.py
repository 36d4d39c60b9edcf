"""What waits for a person in the networks of this machine: what needs a human, and what its gateway could not place."""

import os
import time
from collections.abc import Iterator, Mapping
from typing import Any, Final, NamedTuple

from peerline.core.errors import PeerlineError
from peerline.core.post import Kind, Needs, Post
from peerline.database.connection import NotOurs
from peerline.gateway.journal import HELD, ItemRow, Journal
from peerline.gateway.place import GatewayPlace
from peerline.network.calls import connect
from peerline.network.config import Config, load_config
from peerline.network.direct import DirectCalls
from peerline.network.home import Home, machine_home
from peerline.network.inbox import InboxItem, InboxQuery
from peerline.network.view import View
from peerline.wire.instants import instant

TAKEN_BACK: Final = "withdrawn"  # the tag of the post by which a gateway takes a question back
WITHDRAWN: Final = "withdrawn: nobody waits for an answer any more"
HUMAN, STRANDED = "needs-human", "stranded"
STRANDED_MS: Final = 120_000  # what has been on its way for so long stands still


class Waiting(NamedTuple):
    """One item. `state`: needs-human, held, stranded; `text`: its body, foreign; `unproven`: why its sender is not."""

    id: str
    network: str
    room: str
    thread: str
    sender: str
    at: str
    state: str
    reason: str
    unproven: str | None = None
    text: str = ""

    @property
    def next(self) -> str:
        """The command that deals with it."""
        if self.state == HUMAN:
            return f'peerline answer {self.id} "TEXT"'
        if self.state == HELD:
            return f"komnet gateway resolve {self.id} --to SESSION, or --dismiss"
        return "komnet gateway status"

    def shape(self) -> dict[str, Any]:
        """Metadata alone."""
        return {
            "id": self.id,
            "network": self.network,
            "room": self.room,
            "thread": self.thread,
            "from": self.sender,
            "verified": self.unproven is None,
            "at": self.at,
            "state": self.state,
            "reason": self.reason,
            "next": self.next,
        }


class Reach(NamedTuple):
    """One network of one agent of this machine, opened."""

    home: Home
    config: Config
    network: str
    calls: DirectCalls

    @property
    def view(self) -> View:
        return self.calls.session(self.network).view

    def look(self, env: Mapping[str, str]) -> str | None:
        """Bring it up to date, unless its daemon does that; why the view may be incomplete."""
        try:
            health = connect(self.home, now=_now, entropy=os.urandom, environ=env).call("refresh", {}, self.network)
        except PeerlineError as error:
            return error.text
        return str(health.get("reason") or "it was never reached") if health.get("degraded") else None


def reaches(env: Mapping[str, str]) -> Iterator[Reach]:
    """Every network of every agent that was set up on this machine, the machine's own first.

    Raises:
        BrokenConfig
    """
    root = machine_home(env)
    for home in (root, *(root.agent(name) for name in root.agents())):
        if not home.provisioned:
            continue
        config = load_config(home)
        calls = DirectCalls(home, now=_now, entropy=os.urandom, environ=env, refreshing=False)
        for network in config.networks:
            yield Reach(home, config, network, calls)


def waiting(env: Mapping[str, str]) -> list[Waiting]:
    """What is known here now; nothing is fetched, and nothing counts as read by that.

    Raises:
        BrokenConfig, StorageFailed
    """
    found: dict[tuple[str, str], Waiting] = {}
    held = {(row.network, row.id): row for row in _gateway_rows(machine_home(env))}
    for reach in reaches(env):
        for item in reach.view.inbox(InboxQuery(), showing=False).items:
            key = (reach.network, item.post.id)
            if item.post.needs not in (Needs.NONE, Needs.AGENT):
                note = f"; {WITHDRAWN}" if withdrawn(reach.view, item.post) else ""
                found.setdefault(key, _waiting(item, reach.network, HUMAN, f"it needs a human{note}"))
            elif (row := held.get(key)) is not None:
                state = HELD if row.state == HELD else STRANDED
                found.setdefault(key, _waiting(item, reach.network, state, row.reason or _standing(row)))
    return list(found.values())


def withdrawn(view: View, post: Post) -> bool:
    """Whether its sender has said that nobody waits for an answer any more."""
    said = (one for one in view.replies(post.id) if one.kind is Kind.STATUS and TAKEN_BACK in one.tags)
    return any(one.sender == post.sender for one in said)


def _gateway_rows(home: Home) -> list[ItemRow]:
    """What the gateway of this machine holds, or could not bring to anybody for a while."""
    place = GatewayPlace(home)
    if not place.journal.is_file():
        return []
    try:
        rows = Journal(place.journal).read(lambda tx: tx.items())
    except (NotOurs, PeerlineError, OSError):
        return []  # `peerline doctor` and the gateway itself tell of it
    return [row for row in rows if row.state == HELD or _stranded(row)]


def _stranded(row: ItemRow) -> bool:
    still = _now() - row.changed_at > STRANDED_MS
    return row.state == "filed" or (row.state in ("arrived", "routed", "pushing", "pushed") and still)


def _standing(row: ItemRow) -> str:
    return f"it is {row.state} for {row.session} and goes no further" if row.session else f"it is {row.state}"


def _waiting(item: InboxItem, network: str, state: str, reason: str) -> Waiting:
    post = item.post
    return Waiting(
        id=post.id,
        network=network,
        room=post.room,
        thread=post.thread,
        sender=post.sender,
        at=instant(post.ts),
        state=state,
        reason=reason,
        unproven=None if item.verified else item.reason,
        text=post.body,
    )


def _now() -> int:
    return time.time_ns() // 1_000_000
