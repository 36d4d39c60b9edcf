"""What an agent publishes of itself on `main`: its card and its read receipts (spec/network.md 3.9, 3.10).

A reader is lenient about what it can do without; an agent rewrites only its own files and keeps what it does not know.
"""

import json
from typing import Any, Final

from peerline.core.card import Card, GitAuthor, Human, Session, Stamp, Status
from peerline.core.identifiers import is_agent_id, is_room_id
from peerline.core.room import PostFact, Receipt
from peerline.core.ulid import is_ulid
from peerline.wire.instants import instant, millis
from peerline.wire.members import MalformedFile, Members, Shape, json_members, present, with_kept, yaml_members
from peerline.wire.yaml_writing import dump

POST_STATES: Final = ("taken", "held", "in-turn")
POST_FACTS: Final = 50
WHY: Final = 160
_CARD: Final[Shape] = {
    **dict.fromkeys(("v", "id", "display_name", "tool", "expertise", "speaks_for", "subscriptions")),
    "human": dict.fromkeys(("name", "timezone", "working_hours")),
    "git_author": dict.fromkeys(("name", "email")),
    "presence": dict.fromkeys(("status", "last_seen", "sessions")),
}


def card_path(agent: str) -> str:
    return f"agents/{agent}.yaml"


def receipt_path(room: str, agent: str) -> str:
    return f"rooms/{room}/receipts/{agent}.json"


def read_card(agent: str, data: bytes) -> Card:
    """The card of `agent`, which is the name of its file.

    Raises:
        MalformedFile
    """
    members = yaml_members(data)
    members.version(1)
    if members.text("id", check=is_agent_id) != agent:
        raise MalformedFile("id is not the one that its path names")
    human = members.inner("human")
    return Card(
        id=agent,
        display_name=members.text("display_name", agent),
        human=Human(
            name=human.text("name", ""),
            timezone=human.text("timezone", "UTC"),
            working_hours=human.text("working_hours", None),
        ),
        tool=members.text("tool", "unknown"),
        git_author=_git_author(members),
        expertise=members.texts("expertise"),
        speaks_for=members.texts("speaks_for"),
        subscriptions=members.texts("subscriptions", None),
        presence=_stamp(members.inner("presence")),
        kept=members.mapping,
    )


def _git_author(members: Members) -> GitAuthor | None:
    if members.mapping.get("git_author") is None:
        return None
    author = members.inner("git_author")
    return GitAuthor(name=author.text("name", ""), email=author.text("email"))


def _stamp(members: Members) -> Stamp:
    listed = members.mapping.get("sessions")
    sessions = [Members(one, "presence.sessions.") for one in listed] if isinstance(listed, list) else []
    return Stamp(
        status=Status.LIVE if members.mapping.get("status") == Status.LIVE else Status.AWAY,
        last_seen=members.moment("last_seen", None),
        sessions=tuple(Session(id=one.text("id"), since=one.moment("since", 0)) for one in sessions),
    )


def write_card(card: Card) -> bytes:
    human, author, stamp = card.human, card.git_author, card.presence
    sessions = [{"id": one.id, "since": instant(one.since)} for one in stamp.sessions]
    known = present(
        [
            ("v", 1),
            ("id", card.id),
            ("display_name", card.display_name),
            (
                "human",
                present([("name", human.name), ("timezone", human.timezone), ("working_hours", human.working_hours)]),
            ),
            ("tool", card.tool),
            ("git_author", {"name": author.name, "email": author.email} if author else None),
            ("expertise", card.expertise),
            ("speaks_for", card.speaks_for),
            ("subscriptions", None if card.subscriptions is None else sorted(card.subscriptions)),
            (
                "presence",
                present(
                    [
                        ("status", stamp.status.value),
                        ("last_seen", None if stamp.last_seen is None else instant(stamp.last_seen)),
                        ("sessions", sessions or None),
                    ]
                ),
            ),
        ]
    )
    return dump(with_kept(known, card.kept, _CARD)).encode()


def read_receipt(room: str, agent: str, data: bytes) -> Receipt:
    """The receipt of `agent` for `room`, which its path names.

    Raises:
        MalformedFile
    """
    members = json_members(data)
    members.version(1)
    if (members.text("agent", check=is_agent_id), members.text("room", check=is_room_id)) != (agent, room):
        raise MalformedFile("agent and room are not those that its path names")
    return Receipt(
        agent=agent,
        room=room,
        read_through=members.text("read_through", check=is_ulid),
        total=members.whole("count", 0),
        updated_at=members.moment("updated_at", 0),
        posts=_post_facts(data),
    )


def _post_facts(data: bytes) -> tuple[PostFact, ...]:
    """A member of ours that others need not know; what is no fact in it is passed over."""
    listed = json.loads(data).get("posts")
    found: list[PostFact] = []
    for one in listed[:POST_FACTS] if isinstance(listed, list) else ():
        try:
            id, state, why, at = one["id"], one["state"], one.get("why", ""), millis(one["at"])
        except (KeyError, TypeError, ValueError, AttributeError):
            continue
        if is_ulid(str(id)) and state in POST_STATES and isinstance(why, str):
            found.append(PostFact(id, state, why[:WHY], at))
    return tuple(found)


def write_receipt(receipt: Receipt) -> bytes:
    members: dict[str, Any] = {
        "v": 1,
        "agent": receipt.agent,
        "room": receipt.room,
        "read_through": receipt.read_through,
        "count": receipt.total,
        "updated_at": instant(receipt.updated_at),
    }
    if receipt.posts:
        members["posts"] = [
            {"id": one.id, "state": one.state, **({"why": one.why} if one.why else {}), "at": instant(one.at)}
            for one in receipt.posts
        ]
    return (json.dumps(members, indent=2, ensure_ascii=False) + "\n").encode()
