"""The one writer: all queued work shares one transaction and one fsync, and nothing is answered before the commit."""

from collections import deque
from collections.abc import Callable
from typing import Any, TypeVar

import apsw

from peerline.core.errors import Stopping, Unavailable
from peerline.database import failure
from peerline.database.checkpoint import Checkpoints
from peerline.database.committer import Committer
from peerline.database.connection import BUSY_MS
from peerline.database.later import Later
from peerline.database.measure import Measure
from peerline.database.sql import Sql
from peerline.database.work import Group, Job, Kept, Scope, Unfinished

T = TypeVar("T")
GROUP = 512
COMPANY = 4  # works in a group from which on many are at work at once


class Writer:
    """Runs work in groups on one connection, on the thread that calls it (the event loop's).

    Statements touch memory and are run in place; what may block (waiting for another process's lock, the commit with
    its fsync, a checkpoint) is handed to `committer`, and the next group waits for it. `soon` defers a call to the end
    of the loop's turn, so that everything that arrived in one turn is one group; the default calls at once.

    `probe` is told each point of a group: "begun", "worked", "before_commit", "committed". `fatal` is called once when
    the disk refused an fsync: the process must end. `oops` is told what a listener did wrong. `alarm` gets the log's
    length in pages when it is held open.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        checkpoints: Checkpoints,
        committer: Committer,
        scope: Scope,
        *,
        soon: Callable[[Callable[[], None]], object] = lambda call: call(),
        probe: Callable[[str], None] | None = None,
        fatal: Callable[[BaseException], None] = lambda error: None,
        oops: Callable[[BaseException], None] = lambda error: None,
        alarm: Callable[[int], None] = lambda pages: None,
        measure: Measure | None = None,
    ) -> None:
        self._connection = connection
        self._checkpoints = checkpoints
        connection.set_wal_hook(checkpoints.committed)
        connection.set_busy_timeout(0)
        self._sql = Sql(connection)
        self._execute = connection.cursor().execute
        self._committer, self._scope, self._soon = committer, scope, soon
        scope.bind(self._sql)
        self._probe, self._fatal, self._alarm, self._measure = probe, fatal, alarm, measure
        self._oops = oops
        self._jobs: deque[Job] = deque()
        self._running = self._looping = self._again = False
        self._writable = True
        self._dead: BaseException | None = None
        self._closed = False
        self._idle: Callable[[], None] | None = None
        self.groups = 0

    def submit(self, work: Callable[[Any], T]) -> Later[T]:
        """Queue `work` for the next group; it is called with what the scope gives.

        `work` may run twice and so touches nothing but its argument. What it raises is the outcome of this work alone:
        its changes are rolled back, its neighbours' are not.
        """
        job = Job(work)
        if self._closed or self._dead is not None:
            job.fail(Stopping("the hub is stopping", nextAction="retry"))
            return job
        self._jobs.append(job)
        if not self._running:
            self._running = True
            self._soon(self._next)
        return job

    def close(self, idle: Callable[[], None]) -> None:
        """Take no more work; `idle` is called once what was queued is done."""
        self._closed = True
        self._idle = idle
        if not self._running:
            idle()

    def _next(self) -> None:
        """Run the next group; one that ends in place asks for another turn instead of calling deeper."""
        if self._looping:
            self._again = True
            return
        self._looping = self._again = True
        try:
            while self._again:
                self._again = False
                self._turn()
        finally:
            self._looping = False

    def _turn(self) -> None:
        if not self._jobs:
            self._running = False
            if self._closed and self._idle is not None:
                self._idle()
            return
        group = [self._jobs.popleft() for _ in range(min(len(self._jobs), GROUP))]
        self.groups += 1
        if self._dead is not None:
            self._refused(group, self._dead)
        elif self._checkpoints.due:
            self._committer.run(self._checkpoint, lambda error: self._checkpointed(group, error))
        else:
            self._begin(group)

    def _checkpoint(self) -> None:
        self._writable = self._checkpoints.force(self._connection, self._alarm)

    def _checkpointed(self, group: Group, error: BaseException | None) -> None:
        if error is None:
            self._begin(group)
        else:
            self._die(error)
            self._refused(group, error)

    def _begin(self, group: Group, *, careful: bool = False) -> None:
        if not self._writable:
            self._committer.run(lambda: self._read_only(group), lambda error: self._answer(group))
            return
        try:
            self._execute("BEGIN IMMEDIATE")
        except apsw.BusyError:
            self._committer.run(self._wait_for_lock, lambda error: self._begun(group, error, careful))
        except apsw.Error as error:
            self._begun(group, error, careful)
        else:
            self._begun(group, None, careful)

    def _wait_for_lock(self) -> None:
        """Another process writes; wait for it, but not for ever."""
        self._connection.set_busy_timeout(BUSY_MS)
        try:
            self._execute("BEGIN IMMEDIATE")
        finally:
            self._connection.set_busy_timeout(0)

    def _begun(self, group: Group, error: BaseException | None, careful: bool) -> None:
        if error is not None:
            self._failed(group, error)
            return
        before = self._sql.writes
        try:
            self._work(group, careful)
        except Unfinished:
            self._rollback()
            self._begin(group, careful=True)
            return
        except Exception as stopped:
            self._failed(group, stopped)
            return
        if self._sql.writes == before:
            self._commit()  # nothing to wait for
            self._committed(group, None)
        else:
            works = len(group)
            self._committer.commit(lambda: self._commit_writes(works), lambda failed: self._committed(group, failed))

    def _work(self, group: Group, careful: bool) -> None:
        """One after the other. Works check before they write, so a refusal has nothing to undo; where one has, the
        group is begun anew with a savepoint each: that is what `careful` means.

        Raises: Unfinished, and what ended the whole transaction.
        """
        execute, probe, sql = self._execute, self._probe, self._sql
        tx, aside = self._scope.enter(), self._scope.aside
        if probe:
            probe("begun")
        for job in group:
            if careful:
                execute("SAVEPOINT work")
            before = sql.writes
            try:
                job.value = job.work(tx)
                job.error = None  # of an earlier run of the same work
                job.aside = aside()
            except Kept as kept:
                job.aside, job.error = aside(), kept.error
            except Exception as error:
                if failure.whole_group(error):
                    raise
                if careful:
                    execute("ROLLBACK TO work")
                    self._scope.undone()
                elif sql.writes != before:
                    raise Unfinished from error
                aside()  # nothing was done
                job.aside, job.error = None, error
            if careful:
                execute("RELEASE work")
            if probe:
                probe("worked")

    def _commit_writes(self, works: int) -> None:
        began = self._measure.clock() if self._measure else 0.0
        self._commit()
        self._scope.wrote()
        if self._measure:
            self._measure.committed(began, works)

    def _commit(self) -> None:
        if self._probe:
            self._probe("before_commit")
        self._execute("COMMIT")
        if self._probe:
            self._probe("committed")

    def _committed(self, group: Group, error: BaseException | None) -> None:
        if error is not None:
            self._failed(group, error)
        else:
            self._answer(group)

    def _failed(self, group: Group, error: BaseException) -> None:
        """The group's transaction ended without a commit."""
        self._rollback()
        if failure.fatal(error):
            self._die(error)
            self._refused(group, error)
        elif len(group) == 1 or isinstance(error, apsw.BusyError):
            self._refused(group, error)
        else:
            self._committer.run(lambda: self._one_by_one(group), lambda failed: self._answer(group))

    def _one_by_one(self, group: Group) -> None:
        """A full disk ended the whole transaction: each work gets one of its own, so that each has its own outcome."""
        for job in group:
            if self._dead is not None:
                job.error = failure.refusal(self._dead)
                continue
            try:
                self._wait_for_lock()
                self._work([job], careful=True)
                self._commit_writes(1)
            except Exception as error:
                self._rollback()
                job.error = failure.refusal(error)
                if failure.fatal(error):
                    self._die(error)

    def _read_only(self, group: Group) -> None:
        """The log may not grow: readings are answered, changes refused."""
        self._execute("PRAGMA query_only = ON")
        tx = self._scope.enter()
        try:
            for job in group:
                try:
                    job.value = job.work(tx)
                except apsw.ReadOnlyError:
                    job.error = failure.refusal(self._checkpoints.reason)
                except Exception as error:
                    job.error = failure.refusal(error)
        finally:
            self._execute("PRAGMA query_only = OFF")

    def _rollback(self) -> None:
        self._scope.undone()
        if self._connection.in_transaction:
            try:
                self._execute("ROLLBACK")
            except apsw.Error:
                pass  # SQLite had already ended it

    def _die(self, error: BaseException) -> None:
        self._dead = error
        self._fatal(error)

    def _refused(self, group: Group, error: BaseException) -> None:
        refusal = failure.refusal(error)
        for job in group:
            job.error = refusal
        self._answer(group)

    def _answer(self, group: Group) -> None:
        """Hand the outcomes back, then go on with what was queued meanwhile. Whatever a listener does wrong, the
        others get theirs."""
        for job in group:
            try:
                self._settle(job)
            except Exception as error:
                self._oops(error)
        if len(group) >= COMPANY:
            self._soon(self._next)  # what the answers set off in this turn shares the next commit
        else:
            self._next()

    def _settle(self, job: Job) -> None:
        if job.error is None:
            if job.aside is not None:
                self._scope.done(job.aside)
            job.settle()
            return
        if isinstance(job.error, Unavailable):
            self._scope.refused(job.error)
        elif job.aside is not None:
            self._scope.done(job.aside)
        job.settle()
