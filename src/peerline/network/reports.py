"""What a sync, a flush and a send tell: plain values that the ways in turn into text and JSON."""

from dataclasses import dataclass, field

from peerline.core.post import Post
from peerline.core.post_delivery import Outlook
from peerline.network.reading import Started


@dataclass(frozen=True, slots=True, kw_only=True)
class Delivered:
    """An item that came into the inbox; its text is read by `post(room, id)`."""

    seq: int
    room: str
    id: str
    sender: str
    reason: str
    verified: bool


@dataclass(frozen=True, slots=True)
class Changed:
    """A room's branch moved between two looks; `old` None: it was never examined."""

    room: str
    old: str | None
    new: str


@dataclass(frozen=True, slots=True)
class Unverified:
    id: str
    sender: str
    room: str
    reason: str


@dataclass(frozen=True, slots=True)
class Anomaly:
    """`status`: M or D as git says (a post was changed or deleted), or a word: link, duplicate, rewritten, gone."""

    path: str
    status: str
    detail: str = ""


@dataclass(frozen=True, slots=True)
class Unreadable:
    path: str
    error: str


@dataclass(frozen=True, slots=True)
class Discovered:
    """A room that is not followed: `appeared` (new) or `active` (something was written)."""

    room: str
    state: str


@dataclass(slots=True, kw_only=True)
class SyncReport:
    """`failed`: why the remote was not reached; all else then says what was found before."""

    polled: int = 0
    changed: list[Changed] = field(default_factory=list)
    recorded: int = 0
    delivered: list[Delivered] = field(default_factory=list)
    drained: dict[str, int] = field(default_factory=dict)
    unverified: list[Unverified] = field(default_factory=list)
    anomalies: list[Anomaly] = field(default_factory=list)
    unreadable: list[Unreadable] = field(default_factory=list)
    discovered: list[Discovered] = field(default_factory=list)
    started: list[Started] = field(default_factory=list)
    troubles: dict[str, str] = field(default_factory=dict)
    queued: int = 0
    failed: str | None = None


@dataclass(slots=True, kw_only=True)
class Flushed:
    """`pushed`: posts by room that the remote took; `reason` why the rest waits."""

    pushed: dict[str, int] = field(default_factory=dict)
    left: int = 0
    reason: str | None = None
    tries: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Sent:
    """`delivery`: `pushed` (the remote has it) or `queued` (it waits and goes out by itself: never send it again)."""

    post: Post
    delivery: str
    reason: str | None
    forecast: dict[str, Outlook]
