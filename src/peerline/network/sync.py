"""One look at the remote: what moved is fetched and examined, what waits goes out (spec/network.md 6.3)."""

from collections.abc import Collection
from typing import Final

from peerline.network import health
from peerline.network.clone import Clone
from peerline.network.examination import Examination
from peerline.network.git.branches import MAIN, room_branch, room_of
from peerline.network.git.errors import GitFailed
from peerline.network.git.remote import fetch
from peerline.network.git.repository import is_damaged, join_packs, seen_tips
from peerline.network.look import look
from peerline.network.outbox import Outbox
from peerline.network.reports import Anomaly, Discovered, Flushed, SyncReport
from peerline.network.tables.api import Tx
from peerline.network.tables.troubles import Trouble

FLUSH_S: Final = 60.0
_DAMAGE: Final = (
    "corrupt", "bad object", "unable to read", "missing blob", "missing tree", "not a valid object", "damaged",
    "does not match", "is empty", "broken", "invalid sha1 pointer", "could not parse", "not a git repository",
)  # fmt: skip


def sync(clone: Clone, rooms: Collection[str], *, wait_lock: float, limit_s: float | None = None) -> SyncReport:
    """Bring this copy and the remote together. A remote that is away is no error: the report and `health` say so."""
    report = SyncReport()

    def rest(there: dict[str, str]) -> None:
        take(clone, rooms, there, report, limit_s)

    failed = look(clone, rooms, rest, wait_lock=wait_lock, limit_s=limit_s)
    if failed is None:
        report.polled = len(rooms)
    else:
        report.failed = failed
    report.queued = clone.file.read(lambda tx: tx.outbox.count())
    return report


def flush(clone: Clone, *, wait_lock: float, budget_s: float, limit_s: float | None) -> Flushed:
    """Only the way out, for a send: one that finds nothing to push talks to nobody.

    Raises: Busy, GitFailed
    """
    with clone.locked(wait_lock), Examination(clone, SyncReport()) as examination:
        return Outbox(clone, examination).flush(budget_s, limit_s)


def renew_main(clone: Clone, *, wait_lock: float, limit_s: float) -> None:
    """Look only at main: before somebody is told that an agent does not follow a room.

    Raises:
        RemoteFailed, Busy, GitFailed
    """
    with clone.locked(wait_lock), Examination(clone, SyncReport()) as examination:
        if fetch(clone.git, [MAIN], limit_s).get(MAIN) is None:
            examination.examine(MAIN, seen_tips(clone.git)[MAIN])


def take(
    clone: Clone, rooms: Collection[str], there: dict[str, str], report: SyncReport, limit_s: float | None
) -> None:
    """What a sync does once it knows where the remote's branches are. Who calls holds the lock.

    Raises:
        RemoteFailed, GitFailed
    """
    clone.file.write(lambda tx: _looked(tx, clone, there, rooms, report))
    followed = [MAIN, *(room_branch(room) for room in rooms)]
    report.polled = len(followed) - 1
    wanted = [branch for branch in followed if branch in there]
    try:
        _take(clone, wanted, there, report, limit_s)
        complaints = list(report.troubles.values())
    except GitFailed as error:
        complaints = [error.text]
        if not _renewed(clone, complaints):
            raise
        _take(clone, wanted, there, report, limit_s)
    else:
        if _renewed(clone, complaints):
            report.troubles.clear()
            _take(clone, wanted, there, report, limit_s)
    clone.file.write(lambda tx: _done(tx, clone, report))
    join_packs(clone.git)


def _take(clone: Clone, wanted: list[str], there: dict[str, str], report: SyncReport, limit_s: float | None) -> None:
    """Fetch what moved, examine it, send what waits; main first, since it says who may have written the rest."""
    tips = seen_tips(clone.git)
    moved = [branch for branch in wanted if tips.get(branch) != there[branch]]
    for branch, error in fetch(clone.git, moved, limit_s).items():
        report.troubles[branch] = error.text
        clone.file.write(lambda tx, name=branch, text=error.text: tx.branches.set(name, trouble=text))  # type: ignore[misc]
    clone.around.probe("fetched")
    if moved:
        tips = seen_tips(clone.git)
    with Examination(clone, report) as examination:
        for branch in wanted:
            if branch in tips and branch not in report.troubles:
                examination.examine(branch, tips[branch])
        flushed = Outbox(clone, examination).flush(FLUSH_S, limit_s)
    report.drained = flushed.pushed
    if flushed.left and flushed.reason:
        report.troubles.setdefault("outbox", flushed.reason)


def _looked(tx: Tx, clone: Clone, there: dict[str, str], rooms: Collection[str], report: SyncReport) -> None:
    """Note where every branch is: rooms that nobody here follows are told of when they appear and when they move."""
    known = tx.branches.all()
    for branch, oid in there.items():
        room = room_of(branch)
        before = known.get(branch)
        if room is not None and room not in rooms and (before is None or before.head != oid):
            report.discovered.append(Discovered(room, "appeared" if before is None else "active"))
        if before is None or before.head != oid or before.gone:
            tx.branches.set(branch, head=oid, gone=False)
    for branch, before in known.items():
        if branch not in there and not before.gone and before.head is not None:
            tx.branches.set(branch, gone=True)
            found = Anomaly(branch, "gone", f"the remote has no branch {branch} any more; our copy stays")
            report.anomalies.append(found)
            tx.troubles.add(
                Trouble(clone.around.now(), room_of(branch) or "", "gone", branch, f"last seen at {before.head}")
            )


def _done(tx: Tx, clone: Clone, report: SyncReport) -> None:
    """Reached is what answered as a whole; a room that could not be taken keeps the sync from counting as one."""
    taken = [text for branch, text in report.troubles.items() if branch != "outbox"]
    if taken:
        report.failed = taken[0]
        health.failed(tx, taken[0], clone.around.now(), away=False)
    else:
        health.reached(tx, clone.around.now())


def _renewed(clone: Clone, complaints: list[str]) -> bool:
    """Our copy is a cache: damaged, it is set aside, and all of it is fetched again."""
    if not any(word in text.lower() for text in complaints for word in _DAMAGE) or not is_damaged(clone.git):
        return False
    clone.set_aside()
    return True
