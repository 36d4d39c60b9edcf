"""The one writer: all queued work shares one transaction and one fsync, and nothing is answered before the commit."""

import threading
from collections.abc import Callable, Sequence
from queue import Empty, SimpleQueue
from typing import Any, TypeVar

import apsw

from peerline.core.errors import Stopping
from peerline.database import failure
from peerline.database.checkpoint import Checkpoints
from peerline.database.later import Later
from peerline.database.sql import Sql

T = TypeVar("T")
Settle = Callable[[Callable[[], None]], object]
GROUP = 512


class _Job:
    __slots__ = ("error", "later", "value", "work")

    def __init__(self, work: Callable[[Sql], Any]) -> None:
        self.work = work
        self.later: Later[Any] = Later()
        self.value: Any = None
        self.error: BaseException | None = None


class Writer:
    """Runs work in groups on one connection; `step()` runs one group, `start()` gives it a thread that loops it.

    `settle` carries a callback to the event loop's thread (`loop.call_soon_threadsafe`; a test may call at once).
    `probe` is told each point of a group: "begun", "worked", "before_commit", "committed". `fatal` is called once when
    the disk refused an fsync: the process must end. `alarm` gets the log's length in pages when it is held open.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        checkpoints: Checkpoints,
        settle: Settle,
        *,
        probe: Callable[[str], None] | None = None,
        fatal: Callable[[BaseException], None] = lambda error: None,
        alarm: Callable[[int], None] = lambda pages: None,
    ) -> None:
        self._connection = connection
        self._checkpoints = checkpoints
        connection.set_wal_hook(checkpoints.committed)
        self._sql = Sql(connection)
        self._execute = connection.cursor().execute
        self._settle = settle
        self._probe = probe
        self._fatal = fatal
        self._alarm = alarm
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._thread: threading.Thread | None = None
        self._dead: BaseException | None = None
        self._closed = False

    def submit(self, work: Callable[[Sql], T]) -> Later[T]:
        """Queue `work` for the next group.

        `work` may run twice and then touches nothing but its `Sql`. What it raises is the outcome of this work alone:
        its changes are rolled back, its neighbours' are not.
        """
        job = _Job(work)
        if self._closed or self._dead is not None:
            job.later.fail(Stopping("the hub is stopping", nextAction="retry", detail="the hub is stopping"))
        else:
            self._jobs.put(job)
        return job.later

    def start(self) -> None:
        self._thread = threading.Thread(target=self._loop, name="writer", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """Finish what is queued, then end; later work is refused."""
        self._closed = True
        self._jobs.put(None)
        if self._thread is not None:
            self._thread.join()

    def _loop(self) -> None:
        while self.step():
            pass

    def step(self) -> bool:
        """Take what is queued (waiting for at least one) and run it as a group; False at the end."""
        job = self._jobs.get()
        if job is None:
            return False
        group = [job]
        more = True
        try:
            while len(group) < GROUP:
                job = self._jobs.get_nowait()
                if job is None:
                    more = False
                    break
                group.append(job)
        except Empty:
            pass
        self._run(group)
        self._settle(lambda: _hand_back(group))
        return more

    def _run(self, group: list[_Job]) -> None:
        if self._dead is not None:
            _fail(group, self._dead)
            return
        writable = self._checkpoints.before_group(self._connection, self._alarm)
        try:
            if writable:
                self._together(group)
            else:
                self._read_only(group)
        except Exception as error:
            self._rollback()
            if failure.fatal(error):
                self._die(group, error)
            elif len(group) == 1 or isinstance(error, apsw.BusyError):
                _fail(group, error)
            else:
                self._one_by_one(group)

    def _together(self, group: Sequence[_Job]) -> None:
        execute, probe, sql = self._execute, self._probe, self._sql
        execute("BEGIN IMMEDIATE")
        if probe:
            probe("begun")
        for job in group:
            execute("SAVEPOINT work")
            try:
                job.value = job.work(sql)
                job.error = None
            except Exception as error:
                if failure.whole_group(error):
                    raise
                execute("ROLLBACK TO work")
                job.error = error
            execute("RELEASE work")
            if probe:
                probe("worked")
        if probe:
            probe("before_commit")
        execute("COMMIT")
        if probe:
            probe("committed")

    def _one_by_one(self, group: Sequence[_Job]) -> None:
        """A full disk ended the whole transaction: each work gets one of its own, so that each has its own outcome."""
        for number, job in enumerate(group):
            try:
                self._together([job])
            except Exception as error:
                self._rollback()
                if failure.fatal(error):
                    self._die(group[number:], error)
                    return
                job.error = failure.refusal(error)

    def _read_only(self, group: Sequence[_Job]) -> None:
        """The log may not grow: readings are answered, changes refused."""
        self._execute("PRAGMA query_only = ON")
        try:
            for job in group:
                try:
                    job.value = job.work(self._sql)
                except apsw.ReadOnlyError:
                    job.error = failure.refusal(apsw.BusyError())
                except Exception as error:
                    job.error = failure.refusal(error)
        finally:
            self._execute("PRAGMA query_only = OFF")

    def _rollback(self) -> None:
        if self._connection.in_transaction:
            try:
                self._execute("ROLLBACK")
            except apsw.Error:
                pass  # SQLite had already ended it

    def _die(self, group: Sequence[_Job], error: BaseException) -> None:
        self._dead = error
        _fail(group, error)
        self._fatal(error)


def _fail(group: Sequence[_Job], error: BaseException) -> None:
    refused = failure.refusal(error)
    for job in group:
        job.error = refused


def _hand_back(group: Sequence[_Job]) -> None:
    for job in group:
        if job.error is not None:
            job.later.fail(job.error)
        else:
            job.later.succeed(job.value)
