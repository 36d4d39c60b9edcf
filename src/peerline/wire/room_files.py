"""What `main` records of a network and its rooms, and the two files of a seal (spec/network.md 3.3, 3.8, 3.10, 12)."""

import re
from typing import Any, Final, NamedTuple

from peerline.core.identifiers import is_agent_id, is_room_id
from peerline.core.room import Authenticity, Decision, Digest, Manifest, Room, SealLock, SealTransaction
from peerline.core.threads import REPLY_BUDGET
from peerline.core.ulid import is_ulid
from peerline.wire.instants import instant
from peerline.wire.members import (
    FILE_BYTES,
    MalformedFile,
    Shape,
    frontmatter,
    json_members,
    present,
    with_kept,
    yaml_members,
)
from peerline.wire.yaml_writing import dump

MANIFEST: Final = ".komnet/net.yaml"
ALLOWED_SIGNERS: Final = ".komnet/allowed_signers"
DECISION_PATH: Final = re.compile(r"rooms/([a-z0-9-]+)/decisions/(\d{4,})-([a-z0-9-]*)\.md")
DIGEST_PATH: Final = re.compile(r"rooms/([a-z0-9-]+)/digest/(\d{4}-\d{2})-([0-9a-f]{16})\.md")

_ROOM: Final[Shape] = {
    **dict.fromkeys(("v", "id", "title", "purpose", "status", "created", "created_by")),
    "policy": dict.fromkeys(("reply_budget",)),
    "retention": {"window": dict.fromkeys(("days", "messages")), "seal": dict.fromkeys(("min_interval_hours",))},
}
_PINNED: Final = re.compile(r"pinned at room commit `([0-9a-f]{40}|[0-9a-f]{64})`")
_RAW_PATH: Final = re.compile(r"^  (rooms/[a-z0-9-]+/msg/\S+\.md)(?: \\)?$", re.MULTILINE)


def room_path(room: str) -> str:
    return f"rooms/{room}/room.yaml"


def seal_lock_path(room: str) -> str:
    return f"rooms/{room}/.seal/lock.json"


def seal_transaction_path(room: str) -> str:
    return f"rooms/{room}/.seal/transaction.json"


def read_manifest(data: bytes | None, network: str) -> Manifest:
    """The manifest; one that is missing or can't be read is that of an ordinary network (mode git).

    A mode that is not known here counts as the strictest: signed.
    """
    try:
        members = yaml_members(data or b"")
        mode = members.text("authenticity", Authenticity.GIT.value)
        name = members.text("id", network)
        return Manifest(
            id=name,
            name=members.text("name", name),
            protocol_version=members.whole("protocol_version", 1),
            authenticity=Authenticity(mode) if mode in [*Authenticity] else Authenticity.SIGNED,
        )
    except MalformedFile:
        return Manifest(id=network, name=network)


def write_manifest(manifest: Manifest) -> bytes:
    members = {
        "v": 1,
        "id": manifest.id,
        "name": manifest.name,
        "protocol_version": manifest.protocol_version,
        "authenticity": manifest.authenticity.value,
    }
    return dump(members).encode()


def read_room(room: str, data: bytes) -> Room:
    """The configuration of `room`, which its path names; `v` and `id` are enough.

    Raises:
        MalformedFile
    """
    members = yaml_members(data)
    members.version(1)
    if members.text("id", check=is_room_id) != room:
        raise MalformedFile("id is not the one that its path names")
    retention = members.inner("retention")
    window = retention.inner("window")
    return Room(
        id=room,
        title=members.text("title", room),
        purpose=members.text("purpose", ""),
        closed=members.mapping.get("status") == "closed",
        created=members.moment("created", None),
        created_by=members.text("created_by", None),
        reply_budget=members.inner("policy").whole("reply_budget", REPLY_BUDGET, least=1),
        window_days=window.whole("days", 30),
        window_messages=window.whole("messages", 500),
        seal_min_interval_hours=retention.inner("seal").whole("min_interval_hours", 24),
        kept=members.mapping,
    )


def write_room(room: Room) -> bytes:
    known: dict[str, Any] = present(
        [
            ("v", 1),
            ("id", room.id),
            ("title", room.title),
            ("purpose", room.purpose),
            ("status", "closed" if room.closed else "open"),
            ("created", None if room.created is None else instant(room.created)),
            ("created_by", room.created_by),
            ("policy", {"reply_budget": room.reply_budget}),
            (
                "retention",
                {
                    "window": {"days": room.window_days, "messages": room.window_messages},
                    "seal": {"min_interval_hours": room.seal_min_interval_hours},
                },
            ),
        ]
    )
    return dump(with_kept(known, room.kept, _ROOM)).encode()


class Signer(NamedTuple):
    """One line of allowed_signers: a public key and the agents it speaks for."""

    agents: tuple[str, ...]
    key: str


def read_allowed_signers(data: bytes) -> tuple[Signer, ...]:
    """Who may sign, for people to look at: whether a signature holds is ssh-keygen's to say. Odd lines are left out."""
    signers: list[Signer] = []
    for line in data[:FILE_BYTES].decode(errors="replace").splitlines():
        words = line.split()
        at = next((n for n, word in enumerate(words[1:], 1) if word.startswith(("ssh-", "ecdsa-", "sk-"))), None)
        if at is not None and len(words) > at + 1 and not line.startswith("#"):
            signers.append(Signer(agents=tuple(words[0].split(",")), key=f"{words[at]} {words[at + 1]}"))
    return tuple(signers)


def signer_line(agent: str, public_key: str) -> bytes:
    """The line that lets `agent` sign with the key in `public_key`, the text of a `.pub` file."""
    kind, key = public_key.split()[:2]
    return f"{agent} {kind} {key}\n".encode()


def read_decision(data: bytes) -> Decision:
    """
    Raises:
        MalformedFile
    """
    members, body = frontmatter(data)
    members.version(1)
    return Decision(
        seq=members.whole("seq"),
        title=members.text("title"),
        decided_by=members.text("decided_by", check=is_agent_id),
        decided_at=members.moment("decided_at"),
        source_post=members.text("source_message", check=is_ulid),
        supersedes=members.text("supersedes", None, is_ulid),
        body=body.removeprefix("\n"),
    )


def read_digest(path: str, data: bytes) -> Digest:
    """The digest at `path`, which names its room, period and seal.

    Raises:
        MalformedFile
    """
    place = DIGEST_PATH.fullmatch(path)
    if place is None:
        raise MalformedFile("its path is not that of a digest")
    text = data[: 4 * FILE_BYTES].decode(errors="replace").replace("\r\n", "\n")
    pinned = _PINNED.search(text)
    return Digest(
        room=place[1],
        period=place[2],
        seal=place[3],
        text=text,
        pinned=pinned[1] if pinned else None,
        paths=tuple(_RAW_PATH.findall(text)),
    )


def read_seal_lock(data: bytes) -> SealLock:
    """
    Raises:
        MalformedFile
    """
    members = json_members(data)
    members.version(1, 2)
    return SealLock(
        holder=members.text("holder", check=is_agent_id),
        token=members.text("token"),
        acquired_at=members.moment("acquired_at"),
        expires_at=members.moment("expires_at"),
    )


def read_seal_transaction(data: bytes) -> SealTransaction:
    """
    Raises:
        MalformedFile
    """
    members = json_members(data)
    members.version(1)
    return SealTransaction(
        id=members.text("id"),
        created_at=members.moment("created_at"),
        source_head=members.text("source_head"),
        posts=members.texts("message_ids"),
        open_questions=members.texts("open_question_ids"),
        decisions=members.texts("decision_ids"),
    )
