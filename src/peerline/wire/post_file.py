"""The file of one post in a room's branch: its path, its header, its body (spec/network.md 3.4 to 3.7).

Strict where it writes, tolerant and exact where it reads: what cannot be told apart from a mistake is refused with one
of two errors, never guessed, and never anything else.
"""

import re
from collections.abc import Mapping
from datetime import UTC, datetime
from enum import StrEnum
from typing import Any, Final, TypeVar

from peerline.core.errors import Invalid
from peerline.core.groups import MEMBERS, group_fault
from peerline.core.identifiers import is_agent_id, is_room_id
from peerline.core.ids import Millis
from peerline.core.post import BODY_BYTES, AuthorKind, Kind, Needs, Post, Priority
from peerline.core.ulid import is_ulid
from peerline.wire.instants import instant
from peerline.wire.yaml_core import InvalidYaml, load

VERSION: Final = 1
HEADER_BYTES: Final = 65_536
FILE_BYTES: Final = BODY_BYTES + HEADER_BYTES

PATH: Final = re.compile(
    r"rooms/(?P<room>[a-z0-9-]+)/msg/(?P<year>\d{4})/(?P<month>\d{2})/(?P<day>\d{2})"
    r"/(?P<stamp>\d{8}T\d{6}Z)-(?P<sender>[a-z0-9._-]+)-(?P<tail>[0-9A-HJKMNP-TV-Z]{10})\.md",
    re.ASCII,
)
_FENCE: Final = b"---\n"
_KNOWN: Final = {
    *("v", "id", "room", "from", "author_kind", "ts", "kind", "thread", "in_reply_to", "needs", "mentions", "priority"),
    *("tags", "refs", "seen", "unsafe_reason", "sig"),
    *MEMBERS,
}


class MalformedPost(Invalid):
    """The file is no post, or not the one that its path names."""

    code = "MALFORMED_MESSAGE"


class UnsupportedVersion(Invalid):
    code = "UNSUPPORTED_VERSION"


def post_path(post: Post) -> str:
    """Where `post` stands: the time in UTC with its milliseconds cut, the sender, the last ten digits of the id."""
    at = datetime.fromtimestamp(post.ts // 1000, UTC)
    year, month, day = f"{at.year:04}", f"{at.month:02}", f"{at.day:02}"
    stamp = f"{year}{month}{day}T{at.hour:02}{at.minute:02}{at.second:02}Z"
    return f"rooms/{post.room}/msg/{year}/{month}/{day}/{stamp}-{post.sender}-{post.id[-10:]}.md"


def write_post(post: Post) -> bytes:
    from peerline.wire.yaml_writing import dump  # here and below: a command that reads has no use for it

    body = post.body if post.body.endswith("\n") or not post.body else post.body + "\n"
    return f"---\n{dump(_header(post))}---\n{body}".encode()


def canonical(post: Post) -> bytes:
    """What is signed for a post of ours."""
    return _signed_form(_header(post), write_post(post).split(b"\n---\n", 1)[1])


def signed_form(data: bytes) -> bytes:
    """What was signed for the post that stands in `data`: every member of its header as it stands there, but `sig`.

    Raises:
        MalformedPost
    """
    header, body = _parts(data)
    return _signed_form(header, body)


def _signed_form(header: Mapping[str, Any], body: bytes) -> bytes:
    from peerline.wire.yaml_writing import dump

    names = sorted((name for name in header if name != "sig"), key=lambda name: name.encode("utf-16-be", "replace"))
    return dump({name: header[name] for name in names}).encode() + b"\n" + body


def _header(post: Post) -> dict[str, Any]:
    """The members in the reference's order; what is absent or an empty list is left out."""
    members: dict[str, Any] = {
        "v": VERSION,
        "id": post.id,
        "room": post.room,
        "from": post.sender,
        "author_kind": post.author.value,
        "ts": instant(post.ts),
        "kind": post.kind.value,
        "thread": post.thread,
        "in_reply_to": post.in_reply_to,
        "needs": post.needs.value,
        "mentions": post.mentions,
        "priority": post.priority.value,
        "tags": post.tags,
        "refs": post.refs,
        **{name: post.groups[name] for name in MEMBERS if name in post.groups},
        "seen": post.seen,
        "unsafe_reason": post.unsafe_reason,
        "sig": post.sig,
    }
    kept = {name: value for name, value in members.items() if value is not None and value not in ((), [])}
    return kept | {name: post.extra[name] for name in sorted(post.extra)}


def read_post(path: str, data: bytes) -> Post:
    """The post at `path`; its body as it stands in the file, but for CR LF and bytes that are no UTF-8.

    Raises:
        MalformedPost, UnsupportedVersion: and nothing else, whatever `data` holds.
    """
    place = PATH.fullmatch(path)
    if place is None:
        raise MalformedPost("its path is not that of a post")
    header, body = _parts(data)
    version = header.get("v")
    if not isinstance(version, int) or isinstance(version, bool):
        raise MalformedPost("v is missing or no whole number")
    if version != VERSION:
        raise UnsupportedVersion(
            f"version {version} of the protocol; {VERSION} is understood here. A newer komnet may read it"
        )
    post = _post(header, body.decode(errors="replace"))
    if (post.room, post.sender, post.id[-10:]) != (place["room"], place["sender"], place["tail"]):
        raise MalformedPost("its path and its header disagree about room, from or id")
    if post_path(post) != path:
        raise MalformedPost("its path and its header disagree about the time")
    return post


def _parts(data: bytes) -> tuple[dict[str, Any], bytes]:
    if len(data) > FILE_BYTES:
        raise MalformedPost(f"larger than {FILE_BYTES:,} bytes")
    data = data.replace(b"\r\n", b"\n")
    if not data.startswith(_FENCE):
        raise MalformedPost("it does not begin with a line ---")
    end = data.find(b"\n---\n", 3)
    if end < 0:
        raise MalformedPost("its header is not closed by a line ---")
    if end > HEADER_BYTES:
        raise MalformedPost(f"its header is larger than {HEADER_BYTES:,} bytes")
    try:
        header = load(data[4 : end + 1].decode())
    except InvalidYaml as error:
        raise MalformedPost(f"its header: {error}") from None
    except UnicodeDecodeError:
        raise MalformedPost("its header is not UTF-8") from None
    if not isinstance(header, dict):
        raise MalformedPost("its header is no mapping")
    return header, data[end + 5 :]


def _post(header: Mapping[str, Any], body: str) -> Post:
    groups = {}
    if not header.keys().isdisjoint(MEMBERS):
        groups = {name: header[name] for name in MEMBERS if header.get(name) is not None}
        if fault := group_fault(groups):
            raise MalformedPost(fault)
    in_reply_to = header.get("in_reply_to")
    return Post(
        id=_text(header, "id", is_ulid),
        thread=_text(header, "thread", is_ulid),
        room=_text(header, "room", is_room_id),
        sender=_text(header, "from", is_agent_id),
        author=_member(header, "author_kind", _AUTHORS),
        ts=_ts(header.get("ts")),
        kind=_member(header, "kind", _KINDS),
        needs=_member(header, "needs", _NEEDS),
        in_reply_to=None if in_reply_to is None else _text(header, "in_reply_to", is_ulid),
        mentions=_list(header, "mentions"),
        priority=Priority.NORMAL if header.get("priority") is None else _member(header, "priority", _PRIORITIES),
        tags=_list(header, "tags"),
        refs=_list(header, "refs"),
        seen=_optional(header, "seen"),
        unsafe_reason=_optional(header, "unsafe_reason"),
        sig=_optional(header, "sig"),
        groups=groups,
        extra={name: header[name] for name in header if name not in _KNOWN},
        body=body,
    )


_Named = TypeVar("_Named", bound=StrEnum)

_AUTHORS: Final = {one.value: one for one in AuthorKind}
_KINDS: Final = {one.value: one for one in Kind}
_NEEDS: Final = {one.value: one for one in Needs}
_PRIORITIES: Final = {one.value: one for one in Priority}


def _text(header: Mapping[str, Any], name: str, check: Any) -> str:
    value = header.get(name)
    if not isinstance(value, str) or not check(value):
        raise MalformedPost(f"{name} is missing" if value is None else f"{name} is not acceptable")
    return value


def _member(header: Mapping[str, Any], name: str, known: Mapping[str, _Named]) -> _Named:
    value = header.get(name)
    if not isinstance(value, str) or value not in known:
        raise MalformedPost(f"{name} is missing" if value is None else f"{name} is not one of {', '.join(known)}")
    return known[value]


def _list(header: Mapping[str, Any], name: str) -> tuple[str, ...]:
    value = header.get(name)
    if value is None:
        return ()
    if not isinstance(value, list) or not all(isinstance(one, str) for one in value):
        raise MalformedPost(f"{name} is no list of texts")
    return tuple(value)


def _optional(header: Mapping[str, Any], name: str) -> str | None:
    """A text, or nothing: an unquoted commit of digits only reads as a number, and the reference drops it too."""
    value = header.get(name)
    return value if isinstance(value, str) else None


def _ts(value: object) -> Millis:
    """ISO-8601 or the date of a mail; without a zone UTC.

    Raises:
        MalformedPost
    """
    if not isinstance(value, str):
        raise MalformedPost("ts is missing or no text")
    try:
        moment = datetime.fromisoformat(value)
    except ValueError:
        from email.utils import parsedate_to_datetime  # rarely needed, and dear to import

        try:
            moment = parsedate_to_datetime(value)
        except (ValueError, TypeError, IndexError, OverflowError):
            raise MalformedPost("ts is no moment in time") from None
    since = (moment if moment.tzinfo else moment.replace(tzinfo=UTC)) - _EPOCH
    at = (since.days * 86_400 + since.seconds) * 1000 + since.microseconds // 1000
    if not _FIRST_MS <= at <= _LAST_MS:
        raise MalformedPost("ts is no moment in time")
    return at


_EPOCH: Final = datetime(1970, 1, 1, tzinfo=UTC)
_FIRST_MS: Final = -62_135_596_800_000  # the year 1
_LAST_MS: Final = 253_402_300_799_999  # the end of the year 9999
