"""What came in a room's branch: each commit walked, each post indexed, what is addressed to us delivered.

Everything here may happen twice (a kill between a batch and the cursor): ids decide what is new.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Final

from peerline.core.post import Kind, Post
from peerline.core.post_delivery import delivery
from peerline.network.authenticity import Verdict
from peerline.network.clone import Clone
from peerline.network.git.branches import room_branch
from peerline.network.git.objects import Objects
from peerline.network.git.walk import FILE, Change, changes
from peerline.network.reading import started
from peerline.network.reports import Anomaly, Changed, Delivered, SyncReport, Unreadable, Unverified
from peerline.network.tables.api import Tx
from peerline.network.tables.posts import Stored
from peerline.network.tables.troubles import Trouble
from peerline.wire.members import MalformedFile
from peerline.wire.post_file import FILE_BYTES, PATH, MalformedPost, UnsupportedVersion, read_post
from peerline.wire.room_files import read_seal_transaction, seal_transaction_path

_BATCH: Final = 500
_TROUBLES: Final = 1_000  # reported and kept of one room in one sync; a flood of odd files is one trouble more

Judge = Callable[[Post, bytes, str], Verdict]
"""Who wrote a post, as far as can be proved: from the post, its file and the author address of its commit."""


@dataclass(frozen=True, slots=True)
class Arrival:
    """A change with what its file holds, as far as that is a post; `fault` says why it is none."""

    change: Change
    data: bytes | None
    post: Post | None = None
    verdict: Verdict | None = None
    fault: str = ""


class Arrivals:
    """Examines one room up to a commit; `report` collects what a sync tells."""

    def __init__(self, clone: Clone, objects: Objects, room: str, judge: Judge, report: SyncReport) -> None:
        self._clone, self._objects, self._room, self._judge, self._report = clone, objects, room, judge, report
        self._branch = room_branch(room)
        self._sealing: frozenset[str] = frozenset()
        self._troubles = 0

    def examine(self, new: str) -> None:
        """Walk from the cursor to `new`; the cursor moves when all of it is in the tables.

        Raises: GitFailed
        """
        known = self._clone.file.read(lambda tx: tx.branches.get(self._branch))
        if known.cursor == new:
            return
        old = known.cursor
        base = old if self._here(old) else None
        parents: set[str] = set()
        self._walk(new, base, parents, first=old is None)
        rewritten = old is not None and old not in parents
        if rewritten:
            self._missed(new, old)

        def move(tx: Tx) -> None:
            tx.branches.set(self._branch, cursor=new, trouble=None)
            if rewritten:
                tx.branches.set(self._branch, rewritten_at=self._clone.around.now(), rewritten_from=old)

        self._clone.file.write(move)
        self._report.changed.append(Changed(self._room, old, new))
        self._clone.around.probe("examined")

    def _here(self, commit: str | None) -> bool:
        return commit is not None and self._objects.has(commit)

    def _walk(self, new: str, old: str | None, parents: set[str], *, first: bool) -> None:
        if old is not None:
            self._plan(self._objects.named(f"{old}:{seal_transaction_path(self._room)}", FILE_BYTES))
        todo = changes(self._clone.git, new, old, parents)
        while batch := list(islice(todo, _BATCH)):
            for part in self._read(batch):
                self._store(part, first)

    def _store(self, part: list[Arrival], first: bool) -> None:
        self._clone.file.write(lambda tx: self._take(tx, part, first))
        self._clone.around.probe("batch")

    def _read(self, batch: list[Change]) -> Iterator[list[Arrival]]:
        """The changes with what their files hold, in parts that together are not too large; nothing is locked yet."""
        plan = seal_transaction_path(self._room)
        wanted = [c for c in batch if c.status != "D" and c.mode == FILE and c.path and self._reads(c.path, plan)]
        blobs = self._objects.blobs([change.oid for change in wanted], FILE_BYTES)
        readable = {id(change) for change in wanted}
        part: list[Arrival] = []
        size = 0
        for change in batch:
            data = next(blobs)[1] if id(change) in readable else None
            part.append(self._arrival(change, data))
            size += len(data or b"")
            if size > FILE_BYTES * 16:
                yield part
                part, size = [], 0
        if part:
            yield part

    def _arrival(self, change: Change, data: bytes | None) -> Arrival:
        if data is None or change.path is None or not PATH.fullmatch(change.path):
            return Arrival(change, data)
        try:
            post = read_post(change.path, data)
        except (MalformedPost, UnsupportedVersion) as error:
            return Arrival(change, data, fault=error.text)
        return Arrival(change, data, post, self._judge(post, data, change.email))

    def _reads(self, path: str, plan: str) -> bool:
        place = PATH.fullmatch(path)
        return path == plan or (place is not None and place["room"] == self._room)

    def _take(self, tx: Tx, part: Iterable[Arrival], first: bool) -> None:
        for arrival in part:
            change, path, data = arrival.change, arrival.change.path, arrival.data
            if path is None:
                self._trouble(tx, Unreadable("(a path that is too long or no UTF-8)", f"in commit {change.commit}"))
            elif path == seal_transaction_path(self._room):
                if change.status != "D":
                    self._plan(data)
            elif place := PATH.fullmatch(path):
                if place["room"] != self._room:
                    self._trouble(tx, Anomaly(path, "misplaced", "another room's path on this room's branch"))
                elif change.status == "D":
                    self._deleted(tx, path, first)
                elif change.mode != FILE:
                    self._trouble(tx, Anomaly(path, "link", f"mode {change.mode}, only plain files are read"))
                elif data is None:
                    self._trouble(tx, Unreadable(path, f"larger than {FILE_BYTES} bytes, or not in the repository"))
                elif arrival.post is None or arrival.verdict is None:
                    self._trouble(tx, Unreadable(path, arrival.fault))
                else:
                    self._file(tx, change, path, data, arrival.post, arrival.verdict)

    def _plan(self, data: bytes | None) -> None:
        """A seal says beforehand which posts it takes away; those and no others may go."""
        if data is not None:
            try:
                self._sealing = frozenset(read_seal_transaction(data).posts)
            except MalformedFile:
                self._sealing = frozenset()

    def _deleted(self, tx: Tx, path: str, first: bool) -> None:
        stored = tx.posts.by_path(path)
        if stored is None:
            return
        post_id = stored.post.id
        if post_id not in self._sealing:
            self._trouble(tx, Anomaly(path, "D", "a post was deleted; our copy stays"))
            return
        tx.posts.set_live(path, False)
        if first:
            tx.items.forget(stored.seq, self._clone.around.now())  # sealed before this agent was there

    def _file(self, tx: Tx, change: Change, path: str, data: bytes, post: Post, verdict: Verdict) -> None:
        known = tx.posts.get(post.room, post.id)
        if known is not None:
            self._again(tx, known, path, data, change.email)
        elif change.status == "A":
            self._new(tx, post, path, data, change.email, verdict)
        else:
            self._trouble(tx, Anomaly(path, change.status, "a post was changed that never arrived here"))

    def _again(self, tx: Tx, known: Stored, path: str, data: bytes, email: str) -> None:
        if known.path != path:
            self._trouble(tx, Anomaly(path, "duplicate", f"the id of {known.path}"))
        elif known.data != data:
            self._trouble(tx, Anomaly(path, "M", "a post was changed; our copy is the first one"))
        elif tx.outbox.is_ours(known.seq):
            tx.outbox.sent(known.seq, self._clone.around.now())
            tx.posts.confirm(known.seq, email=email)
        elif not known.live:
            tx.posts.set_live(path, True)

    def _new(self, tx: Tx, post: Post, path: str, data: bytes, email: str, verdict: Verdict) -> None:
        now = self._clone.around.now()
        seq = tx.posts.add(post, path, data, email=email, verdict=verdict, now=now)
        assert seq is not None
        self._report.recorded += 1
        if verdict.failed:
            self._report.unverified.append(Unverified(post.id, post.sender, post.room, verdict.reason))
        why = delivery(post, self._clone.identity.agent, forged=verdict.failed)
        if why is not None:
            tx.items.add(seq, post)
            answered, by_person = tx.posts.answered(post.id)
            if answered:
                tx.items.resolve(post.id, by_person=by_person, now=now)
            else:
                found = Delivered(
                    seq=seq, room=post.room, id=post.id, sender=post.sender, reason=why, verified=verdict.verified
                )
                self._report.delivered.append(found)
        elif post.is_root and post.sender != self._clone.identity.agent:
            tx.started.add(seq, post.room)
            self._report.started.append(started(post))
        if post.kind is Kind.ANSWER and post.in_reply_to and not verdict.failed:
            tx.items.resolve(post.in_reply_to, by_person=post.author.value == "human", now=now)

    def _missed(self, new: str, old: str | None) -> None:
        """After a rewrite: what the new history never held. Others' posts stay here; ours go out once more, once."""
        held = {change.path for change in changes(self._clone.git, new) if change.status == "A"}

        def compare(tx: Tx) -> None:
            self._trouble(tx, Anomaly(self._branch, "rewritten", f"the history of {old} was replaced by {new}"))
            for path, seq in tx.posts.paths(self._room).items():
                if path in held or tx.outbox.is_queued(seq):
                    continue
                if tx.outbox.requeue(seq, "the room's history was rewritten without it"):
                    continue
                self._trouble(tx, Anomaly(path, "missing", "not in the rewritten history; our copy stays"))

        self._clone.file.write(compare)

    def _trouble(self, tx: Tx, found: Anomaly | Unreadable) -> None:
        self._troubles += 1
        if self._troubles > _TROUBLES:
            return
        kind, detail = ("unreadable", found.error) if isinstance(found, Unreadable) else (found.status, found.detail)
        if tx.troubles.add(Trouble(self._clone.around.now(), self._room, kind, found.path, detail)):
            if isinstance(found, Unreadable):
                self._report.unreadable.append(found)
            else:
                self._report.anomalies.append(found)
