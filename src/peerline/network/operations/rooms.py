"""`rooms`, `roomShow`, `roomCreate`, `roomJoin`, `roomLeave`."""

from typing import Any

from peerline.core.room import Room
from peerline.core.threads import REPLY_BUDGET
from peerline.network.operations.params import Params, count, text, text_or_none
from peerline.network.operations.session import Session
from peerline.wire.instants import instant


def rooms(session: Session, params: Params) -> Any:
    return [
        {
            "id": view.room.id,
            "title": view.room.title,
            "purpose": view.room.purpose,
            "status": "closed" if view.room.closed else "open",
            "subscribed": view.followed,
            "materialized": view.materialized,
            "pending": view.pending,
            **({"trouble": view.trouble} if view.trouble else {}),
        }
        for view in session.view.rooms()
    ]


def show(session: Session, params: Params) -> Any:
    """`{room}`.

    Raises:
        UnknownRoom
    """
    return shape(session.view.room(text(params, "room")).room)


def create(session: Session, params: Params) -> Any:
    """`{room, title, purpose, replyBudget}`: the room is on the remote when this returns, and followed."""
    view = session.engine.create_room(
        text(params, "room"),
        title=text_or_none(params, "title"),
        purpose=text_or_none(params, "purpose") or "",
        reply_budget=count(params, "replyBudget", None, 1_000) or REPLY_BUDGET,
    )
    return shape(view.room)


def join(session: Session, params: Params) -> Any:
    """`{room}`: what is addressed to this agent there comes into the inbox, what was written before too."""
    name = text(params, "room")
    session.engine.join(name)
    return {"room": name, "subscribed": True}


def leave(session: Session, params: Params) -> Any:
    name = text(params, "room")
    session.engine.leave(name)
    return {"room": name, "subscribed": False}


def shape(room: Room) -> Any:
    return {
        "v": 1,
        "id": room.id,
        "title": room.title,
        "purpose": room.purpose,
        "status": "closed" if room.closed else "open",
        "created": None if room.created is None else instant(room.created),
        "createdBy": room.created_by,
        "policy": {"replyBudget": room.reply_budget},
        "retention": {
            "windowDays": room.window_days,
            "windowMessages": room.window_messages,
            "sealMinIntervalHours": room.seal_min_interval_hours,
        },
    }
