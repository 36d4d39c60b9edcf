"""Rooms: which there are, making one, following and leaving them."""

from collections.abc import Collection
from dataclasses import dataclass

from peerline.core.room import Room
from peerline.network.clone import Clone
from peerline.network.examination import Examination
from peerline.network.git.append import Addition, append
from peerline.network.git.branches import MAIN, room_branch, room_of
from peerline.network.git.errors import Contended, RemoteFailed, RemoteUnreachable
from peerline.network.git.remote import Move, fetch, heads, push
from peerline.network.git.repository import seen_tips
from peerline.network.outbox import TRIES
from peerline.network.refusals import RoomExists, UnknownRoom
from peerline.network.reports import SyncReport
from peerline.network.tables.api import Tx
from peerline.network.tables.branches import Branch
from peerline.wire.members import MalformedFile
from peerline.wire.room_files import read_room, room_path, write_room


@dataclass(frozen=True, slots=True, kw_only=True)
class RoomView:
    """`materialized`: its posts are here; `rewritten_at`: its history was replaced and nobody has confirmed that."""

    room: Room
    followed: bool
    materialized: bool
    pending: int
    gone: bool
    rewritten_at: int | None
    trouble: str | None


def rooms(tx: Tx, followed: Collection[str]) -> list[RoomView]:
    """Every room of the network, by id: those with a configuration, and those with a branch only."""
    branches = tx.branches.all()
    named = {path.split("/")[1]: data for path, data in tx.files.below("rooms/").items() if path.endswith("/room.yaml")}
    ids = set(named) | {room for name in branches if (room := room_of(name)) is not None}
    pending: dict[str, int] = {}
    for (room, _), count in tx.items.count().items():
        pending[room] = pending.get(room, 0) + count
    return [_view(room, named.get(room), branches, followed, pending) for room in sorted(ids)]


def _view(
    room: str, data: bytes | None, branches: dict[str, Branch], followed: Collection[str], pending: dict[str, int]
) -> RoomView:
    branch = branches.get(room_branch(room), Branch(room_branch(room)))
    return RoomView(
        room=_room(room, data),
        followed=room in followed,
        materialized=branch.cursor is not None,
        pending=pending.get(room, 0),
        gone=branch.gone,
        rewritten_at=branch.rewritten_at,
        trouble=branch.trouble,
    )


def _room(room: str, data: bytes | None) -> Room:
    try:
        return read_room(room, data) if data is not None else Room(id=room, title=room)
    except MalformedFile:
        return Room(id=room, title=room)


def create(clone: Clone, room: Room, *, wait_lock: float) -> None:
    """Open the room at the remote: its configuration on main, and its branch, which begins with an empty commit.

    Raises:
        RoomExists
        RemoteFailed: nothing was made, or only one of the two; to repeat it completes it.
        Busy, GitFailed
    """
    branch, path = room_branch(room.id), room_path(room.id)
    with clone.locked(wait_lock), Examination(clone, SyncReport()) as examination:
        for number in range(TRIES):
            there = heads(clone.git)
            if MAIN not in there:
                raise RemoteUnreachable("the remote has no branch main; is it the network's repository? komnet doctor")
            for error in fetch(clone.git, [MAIN]).values():
                raise error
            tip = seen_tips(clone.git)[MAIN]
            examination.examine(MAIN, tip)
            known = clone.file.read(lambda tx: tx.files.pushed(path))
            if branch in there and known is not None:
                raise RoomExists(f"room {room.id} already exists; join it instead: komnet room join {room.id}")
            wanted: list[Addition] = []
            if known is None:
                config = {path: write_room(room)}
                wanted.append(Addition(branch=MAIN, tip=tip, message=f"komnet: create room {room.id}", files=config))
            if branch not in there:
                wanted.append(Addition(branch=branch, tip=None, message=f"komnet: open room {room.id}", files={}))
            made = append(clone.git, wanted, clone.author, clone.around.now())
            outcome = push(clone.git, [Move(one.branch, one.tip, made[one.branch]) for one in wanted])
            refused = [error for error in outcome.values() if error is not None]
            if not refused:
                tips = seen_tips(clone.git)
                examination.examine(MAIN, tips[MAIN])
                examination.examine(branch, tips[branch])
                clone.file.write(lambda tx: tx.branches.set(branch, head=tips[branch], gone=False))  # noqa: B023
                return
            for error in refused:
                if not isinstance(error, Contended):
                    raise error
            clone.around.pause(clone.around.chance() * min(2.0, 0.05 * 2**number))
    raise RemoteFailed("others write to main at the same moment; try again")


def require_room(clone: Clone, room: str) -> None:
    """Raises: UnknownRoom."""
    known = clone.file.read(lambda tx: tx.branches.get(room_branch(room)))
    if known.head is None:
        names = clone.file.read(lambda tx: sorted(r for name in tx.branches.all() if (r := room_of(name))))
        raise UnknownRoom(
            f"there is no room {room} as far as this machine knows (rooms: {', '.join(names[:20]) or 'none'}); "
            f"look again with komnet sync, or make it: komnet room create {room}"
        )
