"""`routes.json`: who asked and who serves which room, in the exact shape of the seed."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from peerline.core.identifiers import is_room_id
from peerline.core.ulid import is_ulid
from peerline.gateway.place import write_whole

SIZE_AT_MOST: Final = 1 << 20


@dataclass(frozen=True, slots=True, kw_only=True)
class PendingRoute:
    """`reply_key` is what the original forgot; without it no reply file can be written."""

    thread: str
    session: str
    asked: str
    summary: str
    reply_key: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class RoutesFile:
    """`subscriptions`: rooms by session."""

    subscriptions: dict[str, tuple[str, ...]]
    pending: tuple[PendingRoute, ...] = ()


def read_routes(file: Path) -> RoutesFile | None:
    """What stands there, entry by entry: one that can't be used is left out. None: no file, or no routes in it."""
    try:
        with file.open("rb") as stream:
            value = json.loads(stream.read(SIZE_AT_MOST))
    except (OSError, ValueError, RecursionError):
        return None
    if not isinstance(value, dict) or value.get("version") != 1:
        return None
    subscriptions: dict[str, tuple[str, ...]] = {}
    for one in _objects(value.get("subscriptions")):
        rooms = one.get("rooms")
        if isinstance(one.get("session"), str) and isinstance(rooms, list):
            subscriptions[one["session"]] = tuple(room for room in rooms if isinstance(room, str) and is_room_id(room))
    pending = [
        PendingRoute(
            thread=one["thread"],
            session=one["session"],
            asked=str(one.get("asked", "")),
            summary=str(one.get("summary", "")),
            reply_key=one["replyKey"] if isinstance(one.get("replyKey"), str) else None,
        )
        for one in _objects(value.get("pending"))
        if isinstance(one.get("thread"), str) and is_ulid(one["thread"]) and isinstance(one.get("session"), str)
    ]
    return RoutesFile(subscriptions=subscriptions, pending=tuple(pending))


def write_routes(file: Path, routes: RoutesFile) -> None:
    """Raises: OSError: the file is as it was."""
    value = {
        "version": 1,
        "subscriptions": [
            {"session": name, "rooms": list(rooms)} for name, rooms in routes.subscriptions.items() if rooms
        ],
        "pending": [
            {
                "thread": one.thread,
                "session": one.session,
                "asked": one.asked,
                "summary": one.summary,
                **({"replyKey": one.reply_key} if one.reply_key else {}),
            }
            for one in routes.pending
        ],
    }
    write_whole(file, json.dumps(value, indent=2, ensure_ascii=False) + "\n")


def _objects(value: Any) -> list[dict[str, Any]]:
    return [one for one in value if isinstance(one, dict)] if isinstance(value, list) else []
