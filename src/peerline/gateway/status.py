"""What the gateway is in the middle of, as `komnet gateway status --json` prints it."""

from typing import Any

from peerline.gateway.journal import HELD, PERSON, ItemRow, Journal, RequestRow
from peerline.wire.instants import instant


def status(journal: Journal) -> dict[str, Any]:
    """`{routes, requests, items, held, waitingForPerson}`, each entry with its id."""
    items = journal.read(lambda tx: tx.items())
    requests = journal.read(lambda tx: tx.requests())
    return {
        "routes": routes(journal),
        "requests": [_request(row) for row in requests if row.state not in ("answered", "expired")],
        "items": [item(row) for row in items if row.state not in (HELD, PERSON)],
        "held": [item(row) for row in items if row.state == HELD],
        "waitingForPerson": [item(row) for row in items if row.state == PERSON],
    }


def routes(journal: Journal) -> dict[str, Any]:
    """The seed's shape, with which session is a room's default."""
    rows = journal.read(lambda tx: tx.subscriptions())
    sessions = dict.fromkeys(session for session, _, _ in rows)
    pending = [row for row in journal.read(lambda tx: tx.requests("sent")) if row.thread]
    return {
        "version": 1,
        "subscriptions": [
            {
                "session": session,
                "rooms": [room for name, room, _ in rows if name == session],
                "default": [room for name, room, default in rows if name == session and default],
            }
            for session in sessions
        ],
        "pending": [
            {
                "thread": row.thread,
                "session": row.session,
                "asked": instant(row.at),
                "summary": row.summary,
                "replyKey": row.reply_key,
            }
            for row in pending
        ],
    }


def item(row: ItemRow) -> dict[str, Any]:
    return {
        "id": row.id,
        "network": row.network,
        "room": row.room,
        "from": row.sender,
        "thread": row.thread,
        "needs": row.needs,
        "state": row.state,
        "session": row.session,
        "reason": row.reason,
        "file": row.file,
        "at": instant(row.at),
    }


def _request(row: RequestRow) -> dict[str, Any]:
    return {
        "id": row.stem,
        "state": row.state,
        "room": row.room,
        "session": row.session,
        "messageId": row.post,
        "thread": row.thread,
        "code": row.code,
        "detail": row.detail,
        "at": instant(row.at),
    }
