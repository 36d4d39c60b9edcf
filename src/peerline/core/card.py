"""An agent's card: who it is, which rooms it follows, when it was last there (spec/network.md 3.9)."""

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import Final

from peerline.core.ids import Millis

LIVE_MS: Final = 300_000
STALE_MS: Final = 600_000
SKEW_MS: Final = 60_000
SESSION_MS: Final = 43_200_000
SESSIONS: Final = 32


class Status(StrEnum):
    """What a card says of its agent."""

    LIVE = "live"
    AWAY = "away"


class Presence(StrEnum):
    """What a reader makes of it."""

    LIVE = "live"
    STALE = "stale"
    AWAY = "away"


@dataclass(frozen=True, slots=True, kw_only=True)
class GitAuthor:
    name: str
    email: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Human:
    name: str
    timezone: str = "UTC"
    working_hours: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    id: str
    since: Millis


@dataclass(frozen=True, slots=True, kw_only=True)
class Stamp:
    """The presence that a card declares; `last_seen` None: what stands there is no moment."""

    status: Status = Status.AWAY
    last_seen: Millis | None = None
    sessions: tuple[Session, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Card:
    """`subscriptions` None: the card does not say. `kept`: the mapping as read; its unknown members are rewritten."""

    id: str
    display_name: str
    human: Human
    tool: str
    git_author: GitAuthor | None = None
    expertise: tuple[str, ...] = ()
    speaks_for: tuple[str, ...] = ()
    subscriptions: tuple[str, ...] | None = None
    presence: Stamp = Stamp()
    kept: Mapping[str, object] = field(default_factory=dict, compare=False)


def presence(stamp: Stamp, now: Millis, last_post: Millis | None = None) -> Presence:
    """Whether an agent is there; a post of its own newer than the card counts instead of the card."""
    seen = stamp.last_seen
    if last_post is not None and (seen is None or last_post > seen):
        seen = last_post
    elif stamp.status is Status.AWAY:
        return Presence.AWAY
    if seen is None or seen > now + SKEW_MS:
        return Presence.STALE
    if now - seen <= LIVE_MS:
        return Presence.LIVE
    return Presence.STALE if now - seen <= STALE_MS else Presence.AWAY


def announced(stamp: Stamp, now: Millis, session: str | None = None) -> Stamp:
    """The stamp of an agent that is there, in `session`; a session announced before keeps its beginning."""
    sessions = _running(stamp, now)
    if session is not None and all(one.id != session for one in sessions):
        sessions = (*sessions, Session(id=session, since=now))[-SESSIONS:]
    return Stamp(status=Status.LIVE, last_seen=now, sessions=sessions)


def departed(stamp: Stamp, now: Millis, session: str | None = None) -> Stamp:
    """The stamp after `session` has ended, or all have; the agent is there while any runs."""
    sessions = tuple(one for one in _running(stamp, now) if session is not None and one.id != session)
    return Stamp(status=Status.LIVE if sessions else Status.AWAY, last_seen=now, sessions=sessions)


def _running(stamp: Stamp, now: Millis) -> tuple[Session, ...]:
    return tuple(one for one in stamp.sessions if now - one.since < SESSION_MS)


def worth_publishing(before: Card | None, after: Card, now: Millis, *, announce: bool = False) -> bool:
    """Whether `after` is news: more than its time changed, or it announces an agent that no longer reads as live."""
    if before is None or _without_time(before) != _without_time(after):
        return True
    return announce and presence(before.presence, now) is not Presence.LIVE


def _without_time(card: Card) -> Card:
    return replace(card, presence=replace(card.presence, last_seen=None))
