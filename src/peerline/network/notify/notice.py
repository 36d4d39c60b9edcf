"""Whether a person is told that something arrived, and in which words: ids and reasons, never a body.

A notice is pure: what arrived and whether an agent is near go in, a title and a text come out (spec/network.md 6.5).
"""

import unicodedata
from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from typing import Any, Final

from peerline.core.post import Needs, Priority

TITLE: Final = 60
BODY: Final = 180
# Beside control characters, what a shell, a script or a notification's markup could take for more than text.
_LEFT_OUT: Final = frozenset("\"'\\`$<>&")
_HIDDEN: Final = frozenset(["Cc", "Cf", "Cs", "Co", "Cn", "Zl", "Zp"])


class Reason(StrEnum):
    """Why a person is told, the weightiest first."""

    HUMAN = "needs a person"
    BLOCKING = "blocks somebody"
    HELD = "is held: nobody here takes it"
    STRANDED = "could not be handed over"
    MENTION = "mentions you"


@dataclass(frozen=True, slots=True, kw_only=True)
class Arrival:
    """What of a delivered post counts; `proven`: its sender is who it says; `standing`: what the gateway made of it."""

    id: str
    room: str
    sender: str
    needs: str
    priority: str
    mentions: tuple[str, ...]
    proven: bool = True
    standing: Reason | None = None

    @property
    def key(self) -> str:
        """What tells one thing to be told from another."""
        return f"{self.id} {self.standing.name.lower() if self.standing else 'arrived'}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Notice:
    """`urgent`: somebody waits for a person, or is blocked."""

    title: str
    body: str
    urgent: bool


def arrival(header: Mapping[str, Any], unproven: Collection[str] = ()) -> Arrival:
    """From a delivered post's header as a sync report has it; `unproven` are the ids that it lists so."""
    mentions = header.get("mentions")
    return Arrival(
        id=str(header.get("id", "")),
        room=str(header.get("room", "")),
        sender=str(header.get("from", "")),
        needs=str(header.get("needs", "")),
        priority=str(header.get("priority", "")),
        mentions=tuple(map(str, mentions)) if isinstance(mentions, list | tuple) else (),
        proven=header.get("id") not in unproven,
    )


def reason(one: Arrival, me: str, *, agent_near: bool) -> Reason | None:
    """Why a person is told of it; None: the agents of this machine will see it."""
    if one.standing is not None:
        return one.standing
    if one.needs == Needs.HUMAN:
        return Reason.HUMAN
    if one.priority == Priority.BLOCKING:
        return Reason.BLOCKING
    return Reason.MENTION if me in one.mentions and not agent_near else None


def notice(arrived: Sequence[Arrival], me: str, *, agent_near: bool) -> Notice | None:
    """One notice for all that one look brought, however much it was; None when nobody has to be told."""
    told = [(one, why) for one in arrived if (why := reason(one, me, agent_near=agent_near))]
    if not told:
        return None
    urgent = any(why in _URGENT for _, why in told)
    see = "komnet inbox" if all(one.standing is None for one, _ in told) else "peerline inbox --me"
    if len(told) == 1:
        (one, why), *_ = told
        proven = "" if one.proven else ", sender not proven"
        which = f"Read it: {see} --id {one.id}" if one.standing is None else f"{one.id}: {see}"
        title, body = f"{one.sender} {_ONE.get(why, why)}", f"komnet, room {one.room}{proven}. {which}"
    else:
        counts = Counter(why for _, why in told)
        rooms = list(dict.fromkeys(one.room for one, _ in told))
        title = f"komnet: {len(told)} messages for you"
        parts = [f"{counts[why]} {_MANY[why]}" for why in Reason if counts[why]]
        body = f"{', '.join(parts)}; in {', '.join(rooms[:3])}{' and more' if len(rooms) > 3 else ''}. {see}"
    return Notice(title=plain(title, TITLE), body=plain(body, BODY), urgent=urgent)


_URGENT: Final = frozenset((Reason.HUMAN, Reason.BLOCKING, Reason.HELD))
_ONE: Final = {Reason.HELD: "wrote: held, nobody here takes it", Reason.STRANDED: "wrote: it could not be handed over"}
_MANY: Final = {
    Reason.HUMAN: "for a person",
    Reason.BLOCKING: "blocking",
    Reason.HELD: "held",
    Reason.STRANDED: "not handed over",
    Reason.MENTION: "with your name",
}


def plain(text: str, at_most: int) -> str:
    """One line without anything that a sink could take for more than text, cut with an ellipsis."""
    kept = "".join(" " if c.isspace() else c for c in text if c.isspace() or not _odd(c))
    line = " ".join(kept.split())
    return line if len(line) <= at_most else line[: at_most - 1] + "…"


def _odd(character: str) -> bool:
    return character in _LEFT_OUT or unicodedata.category(character) in _HIDDEN
