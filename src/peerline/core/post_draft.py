"""A post that we are about to write: it cannot exist wrong."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Final, TypeVar
from unicodedata import category

from peerline.core.errors import Invalid
from peerline.core.groups import group_fault
from peerline.core.identifiers import EVERYONE, is_agent_id, is_mention, room_id
from peerline.core.ids import Millis
from peerline.core.post import BODY_BYTES, AuthorKind, Kind, Needs, Post, Priority
from peerline.core.ulid import is_ulid

LIST_ITEMS: Final = 100
LIST_TEXT: Final = 500
REASON: Final = 500
_UNFIT: Final = frozenset({"Cc", "Cs", "Zl", "Zp"})


class InvalidPost(Invalid):
    """A field of a post to be written is not acceptable; the text names the field and what is."""

    code = "INVALID_POST"


@dataclass(frozen=True, slots=True, kw_only=True)
class PostDraft:
    """A post without id, sender and time. Its body ends in a newline and has no CR LF.

    Raises:
        InvalidPost, InvalidIdentifier
    """

    room: str
    body: str
    kind: Kind = Kind.MSG
    needs: Needs = Needs.NONE
    author: AuthorKind = AuthorKind.AGENT
    priority: Priority = Priority.NORMAL
    mentions: tuple[str, ...] = ()
    tags: tuple[str, ...] = ()
    refs: tuple[str, ...] = ()
    in_reply_to: str | None = None
    thread: str | None = None
    unsafe_reason: str | None = None
    groups: Mapping[str, object] = field(default_factory=dict)

    def __post_init__(self) -> None:
        room_id(self.room)
        if self.kind is Kind.SYSTEM:
            raise InvalidPost(f"kind system is not for sending; allowed: {_names(SENT_KINDS)}")
        for mention in self.mentions:
            if not is_mention(mention):
                raise InvalidPost(
                    f"{_shown(mention)} can't be mentioned: say an agent id (a-z 0-9 . _ -) or {EVERYONE}"
                )
        _texts("mentions", self.mentions)
        _texts("tags", self.tags)
        _texts("refs", self.refs)
        for name, value in (("in_reply_to", self.in_reply_to), ("thread", self.thread)):
            if value is not None and not is_ulid(value):
                raise InvalidPost(f"{name} {_shown(value)} is no post id: 26 characters 0-9 A-Z without I, L, O, U")
        if self.unsafe_reason is not None:
            _line("unsafe_reason", self.unsafe_reason, REASON)
        if fault := group_fault(self.groups):
            raise InvalidPost(fault)
        object.__setattr__(self, "body", _body(self.body))

    def post(self, *, id: str, sender: str, ts: Millis, thread: str | None = None, seen: str | None = None) -> Post:
        """The post to write: `thread` is what the reply rule found, else the draft's own, else the post itself.

        Raises:
            InvalidPost
        """
        if not is_ulid(id):
            raise InvalidPost(f"id {_shown(id)} is no post id: 26 characters 0-9 A-Z without I, L, O, U")
        if not is_agent_id(sender):
            raise InvalidPost(f"from {_shown(sender)} is no agent id: 1 to 40 characters a-z 0-9 . _ -")
        return Post(
            id=id,
            thread=thread or self.thread or id,
            room=self.room,
            sender=sender,
            author=self.author,
            ts=ts,
            kind=self.kind,
            needs=self.needs,
            in_reply_to=self.in_reply_to,
            mentions=self.mentions,
            priority=self.priority,
            tags=self.tags,
            refs=self.refs,
            seen=seen,
            unsafe_reason=self.unsafe_reason,
            groups=self.groups,
            body=self.body,
        )


SENT_KINDS: Final = tuple(kind for kind in Kind if kind is not Kind.SYSTEM)

_Named = TypeVar("_Named", bound=StrEnum)


def draft(
    *,
    room: str,
    body: str,
    kind: str = "msg",
    needs: str = "none",
    author: AuthorKind = AuthorKind.AGENT,
    priority: str = "normal",
    mentions: Sequence[str] = (),
    tags: Sequence[str] = (),
    refs: Sequence[str] = (),
    in_reply_to: str | None = None,
    thread: str | None = None,
    unsafe_reason: str | None = None,
    groups: Mapping[str, object] | None = None,
) -> PostDraft:
    """A draft from what somebody typed; a mention or tag said twice counts once.

    Raises:
        InvalidPost, InvalidIdentifier: the text names the field and the allowed values.
    """
    return PostDraft(
        room=room,
        body=body,
        kind=_member("kind", kind, SENT_KINDS),
        needs=_member("needs", needs, tuple(Needs)),
        author=author,
        priority=_member("priority", priority, tuple(Priority)),
        mentions=tuple(dict.fromkeys(mentions)),
        tags=tuple(dict.fromkeys(tags)),
        refs=tuple(dict.fromkeys(refs)),
        in_reply_to=in_reply_to,
        thread=thread,
        unsafe_reason=unsafe_reason,
        groups=groups or {},
    )


def _member(name: str, text: str, allowed: tuple[_Named, ...]) -> _Named:
    for one in allowed:
        if one == text:
            return one
    raise InvalidPost(f"{name} {_shown(text)} is not known; allowed: {_names(allowed)}")


def _names(allowed: Sequence[StrEnum]) -> str:
    return ", ".join(allowed)


def _texts(name: str, texts: Sequence[str]) -> None:
    if len(texts) > LIST_ITEMS:
        raise InvalidPost(f"{name}: at most {LIST_ITEMS} of them, there are {len(texts)}")
    for text in texts:
        _line(name, text, LIST_TEXT)


def _line(name: str, text: str, at_most: int) -> None:
    if not text.strip() or len(text) > at_most or any(category(c) in _UNFIT for c in text):
        raise InvalidPost(
            f"{name}: one line of 1 to {at_most} characters without control characters, not {_shown(text)}"
        )


def _body(text: str) -> str:
    if not text.strip():
        raise InvalidPost("the body is empty; say something")
    text = text.replace("\r\n", "\n")
    if not text.endswith("\n"):
        text += "\n"
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        raise InvalidPost("the body is not valid Unicode text; send UTF-8") from None
    if size > BODY_BYTES:
        raise InvalidPost(f"the body is {size:,} bytes long; at most {BODY_BYTES:,}. Send a reference (--ref) instead")
    return text


def _shown(text: str) -> str:
    return ascii(text if len(text) <= 24 else f"{text[:12]}…")  # what is too long for a word may be a secret
