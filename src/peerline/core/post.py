"""A post: one immutable entry in a room (spec/network.md 4.1), as it stands there, whoever wrote it.

Every command that shows a post loads this, so it loads little; what we are about to write is `post_draft`'s.
"""

from collections.abc import Mapping
from enum import StrEnum
from typing import Final, NamedTuple

from peerline.core.ids import Millis

BODY_BYTES: Final = 262_144


class AuthorKind(StrEnum):
    AGENT = "agent"
    HUMAN = "human"


class Kind(StrEnum):
    MSG = "msg"
    QUESTION = "question"
    ANSWER = "answer"
    DECISION = "decision"
    STATUS = "status"
    ARTIFACT = "artifact"
    SYSTEM = "system"


class Needs(StrEnum):
    NONE = "none"
    AGENT = "agent"
    HUMAN = "human"


class Priority(StrEnum):
    LOW = "low"
    NORMAL = "normal"
    HIGH = "high"
    BLOCKING = "blocking"


class Post(NamedTuple):
    """`groups` holds the `review_*`, `task_*` and `claim_*` members as read, `extra` the members nobody here knows."""

    id: str
    thread: str
    room: str
    sender: str
    author: AuthorKind
    ts: Millis
    kind: Kind
    needs: Needs
    in_reply_to: str | None = None
    mentions: tuple[str, ...] = ()
    priority: Priority = Priority.NORMAL
    tags: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    seen: str | None = None
    unsafe_reason: str | None = None
    sig: str | None = None
    groups: Mapping[str, object] = {}
    extra: Mapping[str, object] = {}
    body: str = ""

    @property
    def is_root(self) -> bool:
        return self.thread == self.id
