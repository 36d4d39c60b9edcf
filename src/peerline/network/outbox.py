"""The way out: what waits is put on the tip of its branch and pushed; who was second builds anew on the new tip.

A post's row stays queued until the remote's branch holds the post, however often a push was tried or a process killed.
"""

from collections.abc import Iterable, Mapping
from typing import Final

from peerline.network import health
from peerline.network.clone import Clone
from peerline.network.examination import Examination
from peerline.network.git.append import append
from peerline.network.git.errors import Contended, RemoteFailed
from peerline.network.git.remote import Move, fetch, heads, push
from peerline.network.git.repository import seen_tips
from peerline.network.parcel import Parcel, parcels
from peerline.network.reports import Flushed
from peerline.network.tables.api import Tx

TRIES: Final = 100
_FIRST_S: Final = 0.03
_LONGEST_S: Final = 2.0
_POSTS_AT_ONCE: Final = 500
_OTHERS: Final = "others write at the same moment; it goes out with the next sync"


class Outbox:
    """One flush. Who calls holds the lock on branches; `examination` sees what others pushed meanwhile."""

    def __init__(self, clone: Clone, examination: Examination) -> None:
        self._clone, self._examination = clone, examination
        self._waits: dict[str, str] = {}  # branches that are not tried again in this flush, and why
        self._flushed = Flushed()

    def flush(self, budget_s: float, limit_s: float | None = None) -> Flushed:
        """Push until nothing waits that could go; `limit_s` bounds one try, `budget_s` all of them.

        Raises: GitFailed
        """
        flushed = self._flushed
        until = self._clone.around.monotonic() + budget_s
        tips = seen_tips(self._clone.git) if self._queued() else {}
        for number in range(TRIES):
            try:
                self._find(tips, limit_s)
            except RemoteFailed as error:
                self._away(self._queued().values(), error)
                break
            todo = self._sendable(tips)
            if not todo:
                break
            if number and self._clone.around.monotonic() >= until:
                self._wait_on(todo.values(), _OTHERS)
                break
            flushed.tries += 1
            try:
                moved = self._push(todo, tips, limit_s)
                if moved:
                    self._clone.around.pause(self._pause_s(number))
                    self._catch_up(moved, tips, limit_s)
            except RemoteFailed as error:
                self._away(todo.values(), error)
                break
        else:
            self._wait_on(self._sendable(tips).values(), _OTHERS)
        flushed.reason = next(iter(self._waits.values()), None)
        flushed.left = self._clone.file.read(lambda tx: tx.outbox.count())
        return flushed

    def _queued(self) -> Mapping[str, Parcel]:
        posts, records = self._clone.file.read(lambda tx: (tx.outbox.queued(_POSTS_AT_ONCE), tx.files.queued()))
        return parcels(posts, records)

    def _sendable(self, tips: Mapping[str, str]) -> dict[str, Parcel]:
        """What can be put on a tip that was examined: a post that is on it already waits no more."""
        todo = self._queued()
        behind = [branch for branch in todo if branch in tips and self._examination.cursor(branch) != tips[branch]]
        if behind:
            for branch in behind:
                self._examination.examine(branch, tips[branch])
            todo = self._queued()
        return {branch: parcel for branch, parcel in todo.items() if branch in tips and branch not in self._waits}

    def _find(self, tips: dict[str, str], limit_s: float | None) -> None:
        """Branches that something waits for and that were never fetched here: they are, or the remote has none."""
        lost = {name: one for name, one in self._queued().items() if name not in tips and name not in self._waits}
        if not lost:
            return
        there = heads(self._clone.git, limit_s)
        found = [name for name in lost if name in there]
        failed = fetch(self._clone.git, found, limit_s)
        tips.update(seen_tips(self._clone.git))
        for name, parcel in lost.items():
            if name in failed:
                self._wait_on([parcel], failed[name].text)
            elif name not in tips:
                self._wait_on([parcel], f"the remote has no branch {name}")

    def _push(self, todo: Mapping[str, Parcel], tips: dict[str, str], limit_s: float | None) -> list[str]:
        """One try for all branches; the branches on which somebody else was first."""
        around = self._clone.around
        bases = {branch: tips[branch] for branch in todo}
        made = append(
            self._clone.git,
            [parcel.on(tips[branch]) for branch, parcel in todo.items()],
            self._clone.author,
            around.now(),
        )
        around.probe("built")
        outcome = push(self._clone.git, [Move(name, bases[name], new) for name, new in made.items()], limit_s)
        around.probe("pushed")
        taken = {branch: todo[branch] for branch, refusal in outcome.items() if refusal is None}

        def note(tx: Tx) -> None:
            for branch, parcel in taken.items():
                self._sent(tx, parcel)
                if tx.branches.get(branch).cursor == bases[branch]:  # ours is the only commit since: it is known
                    tx.branches.set(branch, cursor=made[branch], head=made[branch])

        self._clone.file.write(note)
        around.probe("noted")
        moved: list[str] = []
        for branch, refusal in outcome.items():
            if refusal is None:
                tips[branch] = made[branch]
                for post in todo[branch].posts:
                    self._flushed.pushed[post.room] = self._flushed.pushed.get(post.room, 0) + 1
            elif isinstance(refusal, Contended):
                moved.append(branch)
            else:
                self._wait_on([todo[branch]], refusal.text)
        return moved

    def _sent(self, tx: Tx, parcel: Parcel) -> None:
        now = self._clone.around.now()
        for post in parcel.posts:
            tx.outbox.sent(post.seq, now)
        for record in parcel.records:
            tx.files.sent(record)

    def _catch_up(self, branches: list[str], tips: dict[str, str], limit_s: float | None) -> None:
        for branch, error in fetch(self._clone.git, branches, limit_s).items():
            self._waits[branch] = error.text
        tips.update(seen_tips(self._clone.git))
        self._clone.around.probe("fetched")

    def _wait_on(self, parcels: Iterable[Parcel], reason: str) -> None:
        """What is in them stays queued, with the reason for whoever asks."""
        kept = list(parcels)
        for parcel in kept:
            self._waits[parcel.branch] = reason

        def note(tx: Tx) -> None:
            for parcel in kept:
                for post in parcel.posts:
                    tx.outbox.tried(post.seq, reason)

        self._clone.file.write(note)

    def _away(self, parcels: Iterable[Parcel], error: RemoteFailed) -> None:
        """The remote as a whole failed: the next send need not wait as long for it."""
        self._wait_on(parcels, error.text)
        self._clone.file.write(lambda tx: health.failed(tx, error.text, self._clone.around.now(), away=True))

    def _pause_s(self, tries: int) -> float:
        """Exponential with full jitter."""
        return self._clone.around.chance() * min(_LONGEST_S, _FIRST_S * 2.0 ** min(tries, 20))
