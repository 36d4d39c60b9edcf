"""An SQLite file that several short-lived processes share; what one of them committed is on the disk.

The hub's file has one writer that groups commits; here each process takes the write lock for itself
(`BEGIN IMMEDIATE`), waits for the others, and commits with an fsync.
"""

import fcntl
import os
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Final, Generic, TypeVar

import apsw

from peerline.database import failure
from peerline.database.connection import NotOurs, prepare
from peerline.database.migrations import Migration, migrate
from peerline.database.sql import Sql

T = TypeVar("T")
Tx = TypeVar("Tx")
BUSY_MS: Final = 30_000
_CACHE_KB: Final = 8_192


class SharedFile(Generic[Tx]):
    """A pool of connections; safe for several threads. Opened at the first use.

    `tables` makes what a transaction's work is given of its connection.
    """

    def __init__(
        self,
        path: Path,
        *,
        application_id: int,
        schemas: Sequence[Migration],
        tables: Callable[[Sql], Tx],
        probe: Callable[[str], None] | None = None,
    ) -> None:
        self.path = path
        self._application_id, self._schemas, self._tables, self._probe = application_id, schemas, tables, probe
        self._free: list[apsw.Connection] = []
        self._lock = threading.Lock()

    def write(self, work: Callable[[Tx], T]) -> T:
        """Run `work` in one transaction, durable when this returns; what it raises rolls it back.

        Raises:
            Busy, StorageFull, StorageFailed: nothing was stored.
        """
        with self._connection() as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
                value = work(self._tables(Sql(connection)))
                if self._probe:
                    self._probe("before_commit")
                connection.execute("COMMIT")
                if self._probe:
                    self._probe("committed")
            except BaseException as error:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                refusal = failure.refusal(error)
                if refusal is error:
                    raise
                raise refusal from error
            return value

    def read(self, work: Callable[[Tx], T]) -> T:
        """Run `work` on one unchanging state.

        Raises:
            Busy, StorageFailed
        """
        with self._connection() as connection:
            try:
                connection.execute("BEGIN")
                return work(self._tables(Sql(connection)))
            except apsw.Error as error:
                raise failure.refusal(error) from error
            finally:
                if connection.in_transaction:
                    connection.execute("COMMIT")

    def close(self) -> None:
        with self._lock:
            while self._free:
                self._free.pop().close()

    @contextmanager
    def _connection(self) -> Iterator[apsw.Connection]:
        with self._lock:
            connection = self._free.pop() if self._free else None
        if connection is None:
            try:
                connection = self._opened()
            except apsw.Error as error:
                raise failure.refusal(error) from error
        try:
            yield connection
        except BaseException:
            connection.close()  # what state it is in does not matter then
            raise
        with self._lock:
            self._free.append(connection)

    def _opened(self) -> apsw.Connection:
        prepare(self.path)
        connection = apsw.Connection(str(self.path), statementcachesize=128)
        try:
            connection.set_busy_timeout(BUSY_MS)
            old = connection.pragma("user_version") < self._schemas[-1].version
            if old or connection.pragma("journal_mode") != "wal":
                self._made(connection)
            elif connection.pragma("application_id") != self._application_id:
                raise NotOurs(f"{self.path} was written by another program; move it away")
            else:
                migrate(connection, self._schemas, self.path)  # refuses a newer one
            connection.pragma("synchronous", "full")
            connection.pragma("foreign_keys", True)
            connection.pragma("cache_size", -_CACHE_KB)
            connection.pragma("trusted_schema", False)
            # A command that ends need not move the log and sync twice: the log is moved when it is long.
            connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        except BaseException:
            connection.close()
            raise
        return connection

    def _made(self, connection: apsw.Connection) -> None:
        """Make or renew the tables; of several processes that open a new file at once, one does it."""
        path = self.path.with_name(f"{self.path.name}-opening")
        turn = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
        try:
            fcntl.flock(turn, fcntl.LOCK_EX)
            if connection.pragma("application_id") != self._application_id:
                (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()[0]
                if tables:
                    raise NotOurs(f"{self.path} was written by another program; move it away")
                connection.pragma("application_id", self._application_id)
            connection.pragma("journal_mode", "wal")
            connection.pragma("synchronous", "full")
            migrate(connection, self._schemas, self.path)
        finally:
            os.close(turn)
