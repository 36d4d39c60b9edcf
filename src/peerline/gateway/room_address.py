"""Addresses in rooms as a sender types them: `agent@room`, `@room`, `agent/session@room`, `…@room.network`."""

from peerline.core.errors import Invalid
from peerline.core.identifiers import agent_id, room_id
from peerline.gateway.request_file import Request
from peerline.gateway.sessions import Asked

WISH_AT_MOST = 80


class BadAddress(Invalid):
    code = "BAD_ADDRESS"


def request_of(asked: Asked) -> Request:
    """What the message asks to be said in a room.

    Raises:
        BadAddress, InvalidIdentifier
    """
    who, at, where = asked.target.rpartition("@")
    if not at:
        raise BadAddress("a room is addressed as <agent>@<room> or @<room>; the gateway itself answers nothing")
    room, dot, network = where.partition(".")
    to, slash, wish = who.partition("/")
    if (dot and not network) or (slash and not _is_wish(wish)) or (slash and not to):
        raise BadAddress(f"{asked.target[:168]!a} is no address: <agent>[/<session>]@<room>[.<network>]")
    return Request(
        session=asked.session,
        reply_key="",
        room=room_id(room),
        body=asked.body,
        queued_at="",
        to=agent_id(to) if to else None,
        network=network or None,
        wish=wish or None,
        needs="agent" if asked.needs in (None, "agent") else "human",  # a need that nobody knows is a person's
    )


def _is_wish(name: str) -> bool:
    return 0 < len(name) <= WISH_AT_MOST and name.isprintable()
