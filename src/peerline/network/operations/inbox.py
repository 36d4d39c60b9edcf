"""`inbox` and `inboxDrain`: what waits, and what was dealt with, by exact id."""

from typing import Any

from peerline.core.post import Needs
from peerline.network import shapes
from peerline.network.inbox import InboxQuery
from peerline.network.operations.params import InvalidParams, Params, text_or_none, texts
from peerline.network.operations.session import Session


def inbox(session: Session, params: Params) -> Any:
    """`{room, needs, tag, thread}`, each optional → `{health, items}`, the most urgent first."""
    view = session.view.inbox(query(params))
    return {"health": shapes.health(view.health), "items": [shapes.item(one) for one in view.items]}


def drain(session: Session, params: Params) -> Any:
    """`{ids}` → what was taken out and what stays for a person; `{rooms}` drains what those rooms show now."""
    ids = texts(params, "ids")
    if not ids and "rooms" in params:
        rooms = texts(params, "rooms")
        ids = tuple(one.post.id for one in session.view.inbox(InboxQuery()).items if one.post.room in rooms)
    items = {one.post.id: one for one in session.view.inbox(InboxQuery(), showing=False).items}
    done = session.view.drain(ids)
    return {
        "drained": len(done.drained),
        "messages": [shapes.item(items.get(one.post.id, one)) for one in done.drained],
        "awaitingHuman": [shapes.item(items[one]) for one in done.awaiting_human if one in items],
    }


def query(params: Params) -> InboxQuery:
    """Raises: InvalidParams."""
    needs = text_or_none(params, "needs")
    if needs is not None and needs not in tuple(Needs):
        raise InvalidParams(f"needs must be one of {', '.join(Needs)}")
    return InboxQuery(
        room=text_or_none(params, "room"),
        needs=needs,
        tag=text_or_none(params, "tag"),
        thread=text_or_none(params, "thread"),
    )
