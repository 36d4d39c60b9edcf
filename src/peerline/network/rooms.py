"""Which rooms there are, as the tables know them."""

from collections.abc import Collection
from typing import NamedTuple

from peerline.core.room import Room
from peerline.network.clone import Clone
from peerline.network.git.branches import room_branch, room_of
from peerline.network.refusals import UnknownRoom
from peerline.network.tables.api import Tx
from peerline.network.tables.branches import Branch
from peerline.wire.members import MalformedFile
from peerline.wire.room_files import read_room


class RoomView(NamedTuple):
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


def require_room(clone: Clone, room: str) -> None:
    """Raises: UnknownRoom."""
    known = clone.file.read(lambda tx: tx.branches.get(room_branch(room)))
    if known.head is None:
        names = clone.file.read(lambda tx: sorted(r for name in tx.branches.all() if (r := room_of(name))))
        raise UnknownRoom(
            f"there is no room {room} as far as this machine knows (rooms: {', '.join(names[:20]) or 'none'}); "
            f"look again with komnet sync, or make it: komnet room create {room}"
        )
