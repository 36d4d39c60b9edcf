"""Request files: what a local session wants said in a room (spec/network.md 9.2, 9.11; design/gateway.md)."""

import json
import os
import stat
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from peerline.core.errors import Invalid
from peerline.core.identifiers import is_agent_id, room_id
from peerline.core.ids import Entropy, Millis
from peerline.core.post import BODY_BYTES
from peerline.gateway.place import sync_folder
from peerline.gateway.reply_key import is_reply_key
from peerline.wire.instants import instant

SIZE_AT_MOST: Final = BODY_BYTES * 6 + 8_192  # JSON may spell each character as \\uXXXX
SESSION: Final = 80
FIELDS: Final = frozenset(("session", "replyKey", "room", "body", "queuedAt", "needs", "to", "network"))
WISH: Final = "session:"  # the tag that says which of the other end's sessions is asked for
NEEDS: Final = ("agent", "human")
# A name that can stand in a shell's command as it is.
REQUEST_NAME: Final = r"[A-Za-z0-9][A-Za-z0-9._-]{0,119}\.json"


class UnreadableRequest(Invalid):
    """The file is no request; its sender is told so in the result file."""

    code = "UNREADABLE_REQUEST"


@dataclass(frozen=True, slots=True, kw_only=True)
class Request:
    """`session` is a claim, not an identity; `to` None: everybody in the room; `wish`: which of its sessions."""

    session: str
    reply_key: str
    room: str
    body: str
    queued_at: str
    needs: str = "agent"
    to: str | None = None
    network: str | None = None
    wish: str | None = None


@dataclass(frozen=True, slots=True)
class Found:
    data: bytes
    changed_at: Millis


def request_bytes(file: Path) -> Found:
    """What stands in a request file: a plain one of this user, never what a link or a pipe leads to.

    Raises:
        OSError, UnreadableRequest
    """
    with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as stream:
        about = os.fstat(stream.fileno())
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid():
            raise UnreadableRequest("it is no plain file of this user")
        data = stream.read(SIZE_AT_MOST + 1)
    if len(data) > SIZE_AT_MOST:
        raise UnreadableRequest("the file is too large")
    return Found(data, about.st_mtime_ns // 1_000_000)


def is_json(data: bytes) -> bool:
    """Whether it can be read to its end: half a file can't."""
    try:
        json.loads(data)
    except (ValueError, RecursionError):
        return False
    return True


def read_request(data: bytes) -> Request:
    """Raises: UnreadableRequest: the text names the member."""
    try:
        value = json.loads(data)
    except (ValueError, RecursionError):
        raise UnreadableRequest("the file is no JSON") from None
    if not isinstance(value, dict):
        raise UnreadableRequest("a request is a JSON object")
    if unknown := sorted(set(value) - FIELDS):
        raise UnreadableRequest(f"a request has no {unknown[0][:40]!a}; known are {', '.join(sorted(FIELDS))}")
    for name in ("session", "replyKey", "room", "body", "queuedAt"):
        if not isinstance(value.get(name), str) or not value[name].strip():
            raise UnreadableRequest(f"{name} must be a text")
    _check(value)
    return Request(
        session=value["session"],
        reply_key=value["replyKey"],
        room=value["room"],
        body=value["body"],
        queued_at=value["queuedAt"],
        needs="agent" if value.get("needs") is None else value["needs"],
        to=value.get("to"),
        network=value.get("network"),
    )


def session_name(text: str) -> str:
    """`text`, checked.

    Raises:
        UnreadableRequest
    """
    if len(text) > SESSION or not text.isprintable():
        raise UnreadableRequest(f"session must be a name of at most {SESSION} printable characters")
    return text


def _check(value: dict[str, Any]) -> None:
    session_name(value["session"])
    if not is_reply_key(value["replyKey"]):
        raise UnreadableRequest("replyKey must be digits")
    try:
        room_id(value["room"])
    except Invalid as error:
        raise UnreadableRequest(error.text) from None
    if len(value["body"].encode("utf-8", "replace")) > BODY_BYTES:
        raise UnreadableRequest(f"body is longer than {BODY_BYTES:,} bytes")
    # An absent need is an agent's; a need that nobody knows is no reason to ask an agent.
    if value.get("needs") not in (None, *NEEDS):
        raise UnreadableRequest(f"needs must be one of {', '.join(NEEDS)}")
    if value.get("to") is not None and not (isinstance(value["to"], str) and is_agent_id(value["to"])):
        raise UnreadableRequest("to must be an agent's id")
    if value.get("network") is not None and not isinstance(value["network"], str):
        raise UnreadableRequest("network must be a text")


def file_name(now: Millis, entropy: Entropy) -> str:
    """Sortable by time, unique: digits of the moment, then chance."""
    moment = datetime.fromtimestamp(now / 1000, UTC).strftime("%Y%m%d%H%M%S")
    return f"{moment}{now % 1000:03d}-{entropy(8).hex()}.json"


def queue_request(folder: Path, request: Request, *, now: Millis, entropy: Entropy) -> str:
    """Put a request where the gateway claims it, whole or not at all; returns the file's name.

    Raises:
        UnreadableRequest, OSError
    """
    value = {
        "session": request.session,
        "replyKey": request.reply_key,
        "room": request.room,
        "body": request.body,
        "queuedAt": request.queued_at or instant(now),
        **({"needs": request.needs} if request.needs != "agent" else {}),
        **({"to": request.to} if request.to else {}),
        **({"network": request.network} if request.network else {}),
    }
    data = json.dumps(value, ensure_ascii=False, indent=2).encode("utf-8", "surrogatepass")
    read_request(data)
    name = file_name(now, entropy)
    part = folder / f"{name}.tmp"
    with os.fdopen(os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600), "wb") as stream:
        stream.write(data)
        stream.flush()
        os.fsync(stream.fileno())
    part.rename(folder / name)
    sync_folder(folder)
    return name
