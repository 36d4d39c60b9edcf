"""Who can be reached in the rooms that this machine follows, from the cards and posts of each network."""

from collections.abc import Mapping
from statistics import median
from typing import Final

from peerline.core.directory import Remote
from peerline.core.ids import Millis
from peerline.core.post import Kind, Post
from peerline.network.engine import Engine

LOOK_MS: Final = 5_000
POSTS: Final = 300  # of a room, the newest: what the usual delay is taken from


class Directory:
    """Made anew every 5 s at most; a room's delays only when something came into it."""

    def __init__(self) -> None:
        self._known: tuple[Remote, ...] = ()
        self._next: Millis = 0
        self._delays: dict[tuple[str, str], tuple[str | None, dict[str, int]]] = {}

    def known(self, engines: Mapping[str, Engine], now: Millis) -> tuple[Remote, ...]:
        """`engines` by network, the default one first."""
        if now < self._next:
            return self._known
        self._next = now + LOOK_MS
        found: list[Remote] = []
        for place, (network, engine) in enumerate(engines.items()):
            rooms, heads = engine.followed(), engine.heads()
            for each in engine.cards():
                if each.card.id == engine.agent:
                    continue
                seen = max(
                    (at for at in (each.card.presence.last_seen, each.last_post) if at is not None), default=None
                )
                for room in each.card.subscriptions or ():
                    if room not in rooms:
                        continue
                    where = room if place == 0 else f"{room}.{network}"
                    delays = self._of_room(network, engine, room, heads.get(room))
                    found.append(
                        Remote(
                            f"{each.card.id}@{where}",
                            each.card.id,
                            room,
                            network,
                            each.presence.value,
                            seen,
                            delays.get(each.card.id),
                        )
                    )
        self._known = tuple(found)
        return self._known

    def _of_room(self, network: str, engine: Engine, room: str, head: str | None) -> dict[str, int]:
        known = self._delays.get((network, room))
        if known is None or known[0] != head:
            delays = usual_delays([stored.post for stored in engine.history(room, limit=POSTS)])
            known = self._delays[network, room] = (head, delays)
        return known[1]


def usual_delays(posts: list[Post]) -> dict[str, int]:
    """By agent, the median of the milliseconds between a post and its answer to it."""
    asked = {post.id: post.ts for post in posts}
    took: dict[str, list[int]] = {}
    for post in posts:
        if post.kind is Kind.ANSWER and post.in_reply_to in asked and post.ts >= asked[post.in_reply_to]:
            took.setdefault(post.sender, []).append(post.ts - asked[post.in_reply_to])
    return {agent: round(median(times)) for agent, times in took.items()}
