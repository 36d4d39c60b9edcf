"""`read`, `history`, `search`, `message`, `trace`, `receipts`, `mentions`."""

from datetime import UTC, datetime
from typing import Any

from peerline.core.post_delivery import Outlook
from peerline.network import shapes
from peerline.network.operations.params import InvalidParams, Params, count, text, text_or_none
from peerline.network.operations.session import Session
from peerline.network.refusals import UnknownPost
from peerline.wire.instants import instant

MANY = 100_000


def read(session: Session, params: Params) -> Any:
    """`{room, limit, thread}` → what stands in the room now, by thread, the last `limit` of that order."""
    limit = count(params, "limit", 50, MANY) or 50
    return [shapes.shown(one) for one in session.view.read(text(params, "room"), limit, text_or_none(params, "thread"))]


def history(session: Session, params: Params) -> Any:
    """`{room, since, limit}` → sealed messages too, the oldest first."""
    since = text_or_none(params, "since")
    limit = count(params, "limit", MANY, MANY) or MANY
    return [shapes.shown(one) for one in session.view.history(text(params, "room"), _moment(since), limit)]


def search(session: Session, params: Params) -> Any:
    """`{query, room, limit}` → the newest first."""
    limit = count(params, "limit", 20, 1_000) or 20
    found = session.view.search(text(params, "query"), text_or_none(params, "room"), limit)
    return [{"room": one.post.room, **shapes.shown(one)} for one in found]


def message(session: Session, params: Params) -> Any:
    """`{messageId}` → one message of a followed room.

    Raises:
        UnknownPost
    """
    message_id = text(params, "messageId")
    found = session.view.find(message_id)
    if found is None:
        raise UnknownPost(f"no message {message_id} in the rooms this agent follows\n  try 'komnet sync' first")
    return shapes.shown(found)


def trace(session: Session, params: Params) -> Any:
    """`{messageId}` → here, on the remote, and for each addressee: routable, read, answered.

    Raises:
        UnknownPost
    """
    message_id = text(params, "messageId")
    found = session.view.trace(message_id)
    post = found.stored.post
    return {
        "id": post.id,
        "room": post.room,
        "thread": post.thread,
        "from": post.sender,
        "needs": post.needs.value,
        "stored": True,
        "pushed": found.pushed,
        "recipients": [
            {
                "agent": one.agent,
                "routable": _ROUTABLE[one.outlook],
                "read": one.read,
                **({"readAt": instant(one.read_at)} if one.read_at is not None else {}),
                "answered": one.answered,
            }
            for one in found.recipients
        ],
    }


def receipts(session: Session, params: Params) -> Any:
    """`{room, messageId}` → who has read how far, the newest first; with a message, whether that far."""
    message_id = text_or_none(params, "messageId")
    return [
        {
            "v": 1,
            "agent": one.agent,
            "room": one.room,
            "readThrough": one.read_through,
            "count": one.total,
            "updatedAt": instant(one.updated_at),
            **({"read": one.read_through >= message_id} if message_id else {}),
        }
        for one in session.view.receipts(text(params, "room"))
    ]


def mentions(session: Session, params: Params) -> Any:
    """Messages for this agent in rooms it does not follow."""
    return [
        {
            "room": one.room,
            "id": one.id,
            "from": one.sender,
            "ts": instant(one.ts),
            "needs": one.needs.value,
            "kind": one.kind.value,
        }
        for one in session.engine.mentions()
    ]


_ROUTABLE = {Outlook.REACHES: "yes", Outlook.MISSES: "no", Outlook.UNKNOWN: "unknown"}


def _moment(since: str | None) -> int | None:
    if since is None:
        return None
    try:
        moment = datetime.fromisoformat(since)
    except ValueError:
        raise InvalidParams("since must be a date or a moment, as 2026-08-12 or 2026-08-12T09:00:00Z") from None
    return int((moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp() * 1000)
