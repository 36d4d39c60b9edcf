"""What `main` records of a network and its rooms (spec/network.md 3.3, 3.8, 3.10, 12)."""

from collections.abc import Mapping
from enum import StrEnum
from typing import NamedTuple

from peerline.core.ids import Millis
from peerline.core.threads import REPLY_BUDGET


class Authenticity(StrEnum):
    """How a network proves who wrote a post."""

    NONE = "none"
    GIT = "git"
    SIGNED = "signed"


class Manifest(NamedTuple):
    id: str
    name: str
    protocol_version: int = 1
    authenticity: Authenticity = Authenticity.GIT


class Room(NamedTuple):
    """`kept` is the mapping as read, whose unknown members are rewritten."""

    id: str
    title: str
    purpose: str = ""
    closed: bool = False
    created: Millis | None = None
    created_by: str | None = None
    reply_budget: int = REPLY_BUDGET
    window_days: int = 30
    window_messages: int = 500
    seal_min_interval_hours: int = 24
    kept: Mapping[str, object] = {}


class PostFact(NamedTuple):
    """What became of one post where it arrived, as that machine's gateway says: taken, held (why) or in-turn."""

    id: str
    state: str
    why: str
    at: Millis


class Receipt(NamedTuple):
    """How far an agent has read a room: the highest id that its inbox has shown, and how many it holds up to there."""

    agent: str
    room: str
    read_through: str
    total: int
    updated_at: Millis
    posts: tuple[PostFact, ...] = ()


class Decision(NamedTuple):
    seq: int
    title: str
    decided_by: str
    decided_at: Millis
    source_post: str
    supersedes: str | None
    body: str


class Digest(NamedTuple):
    """A sealed period: its text, and where git still holds the posts that were taken away."""

    room: str
    period: str
    seal: str
    text: str
    pinned: str | None
    paths: tuple[str, ...]


class SealLock(NamedTuple):
    holder: str
    token: str
    acquired_at: Millis
    expires_at: Millis


class SealTransaction(NamedTuple):
    """The posts that a seal is about to take away, or has taken away."""

    id: str
    created_at: Millis
    source_head: str
    posts: tuple[str, ...]
    open_questions: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
