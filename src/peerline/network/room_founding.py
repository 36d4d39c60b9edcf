"""Opening a room at the remote."""

from peerline.core.room import Room
from peerline.network.clone import Clone
from peerline.network.examination import Examination
from peerline.network.git.append import Addition, append
from peerline.network.git.branches import MAIN, room_branch
from peerline.network.git.errors import Contended, RemoteFailed, RemoteUnreachable
from peerline.network.git.remote import Move, fetch, heads, push
from peerline.network.git.repository import seen_tips
from peerline.network.outbox import TRIES
from peerline.network.refusals import RoomExists
from peerline.network.reports import SyncReport
from peerline.wire.room_files import room_path, write_room


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
