"""`sync`, `health`, `status`, `networks`, `outbox`, `surroundings`, `policy`: where this agent stands."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from peerline.core.attention import interruption
from peerline.core.errors import Unavailable
from peerline.network import shapes
from peerline.network.inbox import InboxQuery
from peerline.network.operations.params import Params
from peerline.network.operations.session import Session
from peerline.wire.instants import instant

if TYPE_CHECKING:
    from peerline.network.reports import SyncReport


class SyncFailed(Unavailable):
    code = "SYNC_FAILED"


def sync(session: Session, params: Params) -> Any:
    """Send what is queued, fetch what is new.

    Raises:
        SyncFailed: the remote was not reached; nothing is lost by that.
    """
    report = session.engine.sync()
    if report.failed is not None:
        raise SyncFailed(
            f"the remote was not reached: {report.failed}",
            nextAction="komnet doctor checks the transport; what is queued goes out by itself, so send nothing again",
        )
    session.last_report = _report(session, report)
    return session.last_report


def last_report(session: Session, params: Params) -> Any:
    """What the last sync of this process found; a failed one is told as `sync` tells it."""
    from peerline.network.reports import SyncReport

    known = session.view.health()
    if known.failing_since is not None:
        raise SyncFailed(f"the remote was not reached: {known.reason}", nextAction="komnet doctor checks the transport")
    return session.last_report or _report(session, SyncReport())


def refresh(session: Session, params: Params) -> Any:
    """Look at the remote if the last look is not of this moment; a remote that is away is no error."""
    return shapes.health(session.view.health())


def health(session: Session, params: Params) -> Any:
    return shapes.health(session.view.health())


def status(session: Session, params: Params) -> Any:
    """Counts, what is worth stopping for, what goes on elsewhere, and whether the view is complete."""
    view = session.view
    known, rooms = view.health(), view.rooms()
    stopping = _interrupting(session)
    pending = sum(room.pending for room in rooms)
    return {
        "networkId": session.joined.id,
        "remote": session.joined.remote,
        "agentId": session.me,
        "subscriptions": list(session.joined.rooms),
        "pending": pending,
        "pendingHuman": sum(1 for one in stopping if one["needs"] == "human"),
        "queued": len(view.waiting()),
        "lastSyncAt": None if known.last_sync_at is None else instant(known.last_sync_at),
        "heads": view.heads(),
        "tasks": dict.fromkeys(_TASKS, 0),
        "surroundings": surroundings(session, params),
        "attention": {
            "interrupting": stopping,
            "deferred": pending - len(stopping),
        },
        "health": shapes.health(known),
        "mode": "direct",
    }


def networks(session: Session, params: Params) -> Any:
    current = session.config.network(None).id if session.config.default or len(session.config.networks) == 1 else None
    return [
        {"id": one.id, "remote": one.remote, "subscriptions": list(one.rooms), "current": one.id == current}
        for one in session.config.networks.values()
    ]


def outbox(session: Session, params: Params) -> Any:
    """What waits here for the remote, in the order in which it was written."""
    return [
        {"id": one.id, "room": one.room, "queuedAt": instant(one.queued_at), "tries": one.tries, "reason": one.reason}
        for one in session.view.waiting()
    ]


def surroundings(session: Session, params: Params) -> Any:
    """Rooms that are not followed, and threads that others opened among themselves."""
    return {
        "rooms": [view.room.id for view in session.view.rooms() if not view.followed],
        "threads": [
            {
                "room": one.room,
                "thread": one.thread,
                "from": one.sender,
                "kind": one.kind,
                "needs": one.needs,
                "mentions": list(one.mentions),
                "at": instant(one.at),
            }
            for one in session.view.started()
        ],
    }


def policy(session: Session, params: Params) -> Any:
    from peerline.network.policy import load_policy

    found = load_policy(session.home)
    return {"policy": found.shape(), "sources": list(found.sources), "path": str(session.home.policy)}


def _interrupting(session: Session) -> list[shapes.Json]:
    """What waits for a person or is blocking; no work is under way here before tasks come."""
    found = []
    for item in session.view.inbox(InboxQuery(), showing=False).items:
        reason = interruption(item.post.needs, item.post.priority, item.post.thread, ())
        if reason is not None:
            shown = shapes.item(item)
            members = ("id", "room", "from", "needs", "priority", "thread")
            found.append({**{name: shown[name] for name in members}, "reason": reason.value})
    return found


def _report(session: Session, report: SyncReport) -> Any:
    posts = [session.view.post(one.room, one.id) for one in report.delivered]
    return {
        "roomsPolled": report.polled,
        "changed": [{"roomId": one.room, "from": one.old, "to": one.new} for one in report.changed],
        "recorded": report.recorded,
        "delivered": len(report.delivered),
        "deliveredMessages": [shapes.header(stored.post) for stored in posts if stored is not None],
        "drained": [{"roomId": room, "pushed": pushed} for room, pushed in report.drained.items()],
        "unverified": [
            {"id": one.id, "from": one.sender, "room": one.room, "reason": one.reason} for one in report.unverified
        ],
        "anomalies": [{"path": one.path, "status": _STATUS.get(one.status, one.status)} for one in report.anomalies],
        "unreadable": [{"path": one.path, "error": one.error} for one in report.unreadable],
        "discovered": [{"roomId": one.room, "state": one.state} for one in report.discovered],
        "startedThreads": [
            {
                "room": one.room,
                "thread": one.thread,
                "from": one.sender,
                "kind": one.kind,
                "needs": one.needs,
                "mentions": list(one.mentions),
            }
            for one in report.started
        ],
    }


_STATUS = {"M": "modified", "D": "deleted"}
_TASKS = ("assigned", "offered", "created", "unclaimed", "stale", "blocked", "stuck", "inFlight", "needsAttention")
