"""The look at the remote that nearly always finds nothing: one `ls-remote`, and no more is loaded for it.

Where something moved or waits, the rest of a sync is `take`'s, which whoever calls brings along.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping
from typing import TYPE_CHECKING

from peerline.core.errors import Busy
from peerline.network import health
from peerline.network.clone import Clone
from peerline.network.git.branches import MAIN, room_branch
from peerline.network.git.errors import GitFailed, RemoteFailed
from peerline.network.git.remote import heads
from peerline.network.git.repository import many_packs, seen_tips

if TYPE_CHECKING:
    from peerline.network.tables.api import Tx


def look(
    clone: Clone,
    rooms: Collection[str],
    take: Callable[[dict[str, str]], None],
    *,
    wait_lock: float,
    limit_s: float | None = None,
) -> str | None:
    """Ask the remote for its branches; `take` is given them, with the lock held, unless all is as it was.

    Returns why it failed, which `health` says then too; None: it did not.
    """
    try:
        with clone.locked(wait_lock):
            there = heads(clone.git, limit_s)
            clone.around.probe("looked")
            tips = seen_tips(clone.git)
            if clone.file.read(lambda tx: _still(tx, rooms, there, tips)) and not many_packs(clone.git):
                clone.file.write(lambda tx: health.reached(tx, clone.around.now()))
            else:
                take(there)
    except Busy as error:
        return error.text  # another process is at it: that is no failure of the remote
    except RemoteFailed as error:
        return _failed(clone, error.text, away=True)
    except GitFailed as error:
        return _failed(clone, error.text, away=False)
    return None


def _still(tx: Tx, rooms: Collection[str], there: Mapping[str, str], tips: Mapping[str, str]) -> bool:
    """Nothing moved since it was fetched and examined, and nothing of ours waits."""
    known = tx.branches.all()
    if {name: one.head for name, one in known.items() if one.head is not None and not one.gone} != there:
        return False
    followed = [branch for branch in (MAIN, *map(room_branch, rooms)) if branch in there]
    if any(not tips.get(branch) == known[branch].cursor == there[branch] for branch in followed):
        return False
    return not tx.outbox.count() and not tx.files.queued()


def _failed(clone: Clone, reason: str, *, away: bool) -> str:
    clone.file.write(lambda tx: health.failed(tx, reason, clone.around.now(), away=away))
    return reason
