"""`agents`, `profileGet`, `profileUpdate`, `presence`, `announce`, `handshake`: who is there, and what each covers."""

from dataclasses import replace
from typing import Any

from peerline.core.card import Card, Status
from peerline.core.errors import Conflict
from peerline.core.identifiers import EVERYONE
from peerline.core.post_draft import draft
from peerline.core.profile import Environment, Profile
from peerline.network import shapes
from peerline.network.operations.params import InvalidParams, Params, text, text_or_none, texts
from peerline.network.operations.session import Session
from peerline.network.operations.writing import send_draft
from peerline.network.people import Known
from peerline.network.refusals import UnknownPost
from peerline.wire.instants import instant

HELLO, HELLO_BACK = "handshake", "handshake-ack"


class NoOpenHandshake(Conflict):
    code = "NO_OPEN_HANDSHAKE"


def agents(session: Session, params: Params) -> Any:
    """Every card, with the role of its profile."""
    return [
        {**_card(known.card), **({"role": known.profile.role} if known.profile else {})}
        for known in session.view.cards()
    ]


def profile(session: Session, params: Params) -> Any:
    """`{agent}`, default this one → its profile, or null."""
    found = session.view.profile(text_or_none(params, "agent") or session.me)
    return None if found is None else _profile(found)


def profile_update(session: Session, params: Params) -> Any:
    """What is given replaces what stood there; a profile that would say the same is not published again.

    Raises:
        InvalidProfile, SecretDetected
    """
    old = session.view.profile() or Profile(
        id=session.me,
        updated_at=session.now(),
        role="Agent",
        mission="Not described yet.",
        current_focus="Not described yet.",
        environment=Environment(client=session.config.agent.tool),
    )
    environment = old.environment
    if "workspace" in params:
        environment = replace(environment, workspace=text_or_none(params, "workspace"))
    new = replace(
        old,
        updated_at=session.now(),
        role=text_or_none(params, "role") or old.role,
        mission=text_or_none(params, "mission") or old.mission,
        current_focus=text_or_none(params, "currentFocus") or old.current_focus,
        environment=environment,
        capabilities=_listed(params, "capabilities", old.capabilities),
        responsibilities=_listed(params, "responsibilities", old.responsibilities),
        constraints=_listed(params, "constraints", old.constraints),
        can_help_with=_listed(params, "canHelpWith", old.can_help_with),
    )
    published = session.engine.publish_profile(new)
    return {"published": published, "profile": _profile(new if published else old)}


def presence(session: Session, params: Params) -> Any:
    """Who is there: what a card says, unless the agent wrote something later."""
    return [_presence(known) for known in session.view.cards()]


def announce(session: Session, params: Params) -> Any:
    """`{status: live|away, session}` → whether the card had to be written for it."""
    status = text(params, "status")
    if status not in tuple(Status):
        raise InvalidParams(f"status must be one of {', '.join(Status)}")
    published = session.engine.publish_card(announce=status == Status.LIVE, session=text_or_none(params, "session"))
    return {"status": status, "published": published}


def handshake(session: Session, params: Params) -> Any:
    """`{room, peers, note}` says hello; `{ackTo, note}` answers one, never what waits for a person or is an answer."""
    ack_to = text_or_none(params, "ackTo")
    note = text_or_none(params, "note")
    published = session.engine.publish_card(announce=True)
    if ack_to is not None:
        return _acknowledged(session, ack_to, note, published)
    room = text(params, "room")
    if room not in session.joined.rooms:
        session.engine.join(room)
    peers = texts(params, "peers") or (EVERYONE,)
    hello = f"handshake — {_who(session)}\n\nFirst contact: checking that messages reach this network and come back."
    sent = send_draft(
        session,
        draft(room=room, body=_with(hello, note), kind="question", needs="agent", mentions=peers, tags=(HELLO,)),
    )["message"]
    return _shaken(session, sent, "open", list(peers), published)


def _acknowledged(session: Session, ack_to: str, note: str | None, published: bool) -> Any:
    found = session.view.find(ack_to)
    if found is None:
        raise UnknownPost(f"no message {ack_to} in the rooms this agent follows\n  try 'komnet sync' first")
    post = found.post
    if HELLO not in post.tags or HELLO_BACK in post.tags or post.needs == "human":
        raise NoOpenHandshake(
            f"message {ack_to} is not an open handshake (tags: {', '.join(post.tags) or 'none'}). "
            f"Reply to it with 'komnet answer {ack_to} \"<your reply>\"' instead."
        )
    hello = (
        f"handshake ack — {_who(session)}\n\nHeard {post.sender} in #{post.room}. This link works in both directions."
    )
    sent = send_draft(
        session,
        draft(
            room=post.room,
            body=_with(hello, note),
            kind="answer",
            mentions=(post.sender,),
            tags=(HELLO_BACK,),
            in_reply_to=post.id,
            thread=post.thread,
        ),
    )["message"]
    return _shaken(session, sent, "ack", [post.sender], published)


def _shaken(session: Session, sent: Any, role: str, addressed: list[str], published: bool) -> Any:
    peers = [_presence(known) for known in session.view.cards() if known.card.id != session.me]
    return {
        "room": sent["room"],
        "thread": sent["thread"],
        "message": sent,
        "role": role,
        "addressed": addressed,
        "peers": [
            {name: one[name] for name in ("id", "status", "lastSeen", "lastActivity", "tool", "human")} for one in peers
        ],
        "presencePublished": published,
        "synced": not session.view.health().degraded,
        "watch": f"komnet watch --thread {sent['thread']}",
    }


def _who(session: Session) -> str:
    me = session.config.agent
    return f"{me.id} · {me.tool} · {me.human} · {me.timezone}"


def _with(hello: str, note: str | None) -> str:
    return f"{hello}\n\n{note}" if note else hello


def _presence(known: Known) -> shapes.Json:
    card, wrote = known.card, known.last_post
    seen = card.presence.last_seen
    return {
        "id": card.id,
        "status": known.presence.value,
        "lastSeen": None if seen is None else instant(seen),
        "lastActivity": None if wrote is None else instant(wrote),
        "human": card.human.name,
        "timezone": card.human.timezone,
        "tool": card.tool,
        "sessions": len(card.presence.sessions),
    }


def _card(card: Card) -> shapes.Json:
    seen = card.presence.last_seen
    members: shapes.Json = {
        "v": 1,
        "id": card.id,
        "displayName": card.display_name,
        "human": {"name": card.human.name, "timezone": card.human.timezone},
        "tool": card.tool,
        "expertise": list(card.expertise),
        "speaksFor": list(card.speaks_for),
    }
    if card.subscriptions is not None:
        members["subscriptions"] = list(card.subscriptions)
    members["presence"] = {
        "status": card.presence.status.value,
        "lastSeen": None if seen is None else instant(seen),
        "sessions": [{"id": one.id, "since": instant(one.since)} for one in card.presence.sessions],
    }
    if card.git_author is not None:
        members["gitAuthor"] = {"name": card.git_author.name, "email": card.git_author.email}
    return members


def _listed(params: Params, name: str, before: tuple[str, ...]) -> tuple[str, ...]:
    return texts(params, name) if name in params else before


def _profile(found: Profile) -> shapes.Json:
    environment = found.environment
    return {
        "v": 1,
        "id": found.id,
        "updatedAt": instant(found.updated_at),
        "role": found.role,
        "mission": found.mission,
        "currentFocus": found.current_focus,
        "environment": {
            "client": environment.client,
            "platform": environment.platform,
            "architecture": environment.architecture,
            **({"workspace": environment.workspace} if environment.workspace is not None else {}),
        },
        "capabilities": list(found.capabilities),
        "responsibilities": list(found.responsibilities),
        "constraints": list(found.constraints),
        "canHelpWith": list(found.can_help_with),
    }
