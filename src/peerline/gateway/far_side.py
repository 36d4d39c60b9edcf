"""What becomes of a post on the other machine: told there in the receipt of its gateway, and here in the asker's trail.

A network in which nothing happens gets no commit: a receipt is written when it would say something else, and at most
once a minute.
"""

import json
from collections.abc import Callable
from typing import Final

from peerline.core.agent import GATEWAY
from peerline.core.errors import PeerlineError
from peerline.core.fence import excerpt, visible
from peerline.core.ids import Millis
from peerline.core.post_delivery import Outlook
from peerline.core.room import PostFact
from peerline.gateway.journal import HELD, PERSON, ItemRow, Journal, RequestRow
from peerline.gateway.sessions import Far, Sessions, Unreachable
from peerline.network.engine import Engine
from peerline.wire.card_files import POST_FACTS, WHY

EVERY_MS: Final = 60_000
KEPT_MS: Final = 86_400_000
FOR_PERSON: Final = "it needs a human, and waits for them"
UNREACHED: Final = "its session can't be reached"
UNSEEN: Final = {
    Outlook.MISSES: "{agent} does not follow #{room}, as its card says",
    Outlook.UNKNOWN: "no card of {agent} is known here: it is new, or the name is wrong",
}
SHOWN: Final = 120
ASIDE: Final = "its person has put it aside"
THERE: Final[dict[str, Far]] = {"taken": "taken there", "held": "held there", "in-turn": "in turn there"}


class FarSide:
    def __init__(self, journal: Journal, sessions: Sessions, *, now: Callable[[], Millis]) -> None:
        self._journal, self._sessions, self._now = journal, sessions, now

    def step(self, network: str, engine: Engine) -> None:
        self._tell_them(network, engine)
        self._tell_ours(network, engine)

    def _tell_them(self, network: str, engine: Engine) -> None:
        """What became here of what is addressed to us and waits for somebody."""
        now = self._now()
        rows = self._journal.read(lambda tx: tx.items_since(network, now - KEPT_MS))
        rooms: dict[str, list[PostFact]] = {}
        for row in rows:
            if row.needs != "none" and (fact := _fact(row)) is not None and row.room in engine.followed():
                rooms.setdefault(row.room, []).append(fact)
        for room, facts in rooms.items():
            engine.report_posts(room, tuple(facts[-POST_FACTS:]), every_ms=EVERY_MS)

    def _tell_ours(self, network: str, engine: Engine) -> None:
        """What others say of what our sessions asked."""
        rows = self._journal.read(lambda tx: tx.requests("sent"))
        for row in rows:
            if row.hub_message is None or row.post is None or row.room is None:
                continue
            if engine.find(row.post) is None:
                continue  # another network's
            told: dict[str, str] = json.loads(row.far or "{}")
            for by, (fact, why) in self._standing(row, row.post, row.room, engine).items():
                said = f"{fact}: {why}"
                if told.get(by) == said:
                    continue
                try:
                    self._sessions.report(row.hub_message, fact, by, why)
                except Unreachable:
                    return
                told[by] = said
                self._journal.write(lambda tx, row=row, told=told: tx.set_request(row.stem, far=json.dumps(told)))  # type: ignore[misc]

    def _standing(self, row: RequestRow, post: str, room: str, engine: Engine) -> dict[str, tuple[Far, str]]:
        """By who says so."""
        waiting = engine.waits(post)
        if waiting is not None:
            why = waiting.reason or engine.health().reason or ""
            return {GATEWAY: ("waits", visible(" ".join(why.split()), WHY))} if why else {}
        found: dict[str, tuple[Far, str]] = {}
        try:
            receipts = engine.receipts(room)
        except PeerlineError:
            return {}  # the room was left
        for receipt in receipts:
            for one in receipt.posts:
                if one.id == post and receipt.agent != engine.agent:
                    found[receipt.agent] = (THERE[one.state], excerpt(one.why, SHOWN) if one.why else "")
        agent = row.asked_agent
        unseen = UNSEEN.get(engine.forecast((agent,), room).get(agent, Outlook.REACHES)) if agent else None
        if not found and unseen is not None:
            found[GATEWAY] = ("waits", unseen.format(agent=agent, room=room))
        return found


def _fact(row: ItemRow) -> PostFact | None:
    """None: not known yet, or somebody else took it from the inbox."""
    if row.state == HELD:
        why = (row.reason or "") if row.rule is None else UNREACHED
        return PostFact(row.id, "held", why[:WHY], row.changed_at)
    if row.state == PERSON:
        return PostFact(row.id, "held", FOR_PERSON, row.changed_at)
    if row.reason == "dismissed":
        return PostFact(row.id, "held", ASIDE, row.changed_at)
    if row.state in ("routed", "pushing", "pushed", "filed"):
        why = "as a file for its project" if row.state == "filed" else ""
        return PostFact(row.id, "taken", why, row.at)
    if row.state in ("confirmed", "drained"):
        return PostFact(row.id, "in-turn", "", row.at)
    return None
