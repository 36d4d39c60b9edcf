"""The network's own SQLite file: several processes of one home share it, and what it committed is on the disk.

The hub's file has one writer that groups commits; here short-lived processes come and go, so each takes the write lock
for itself (`BEGIN IMMEDIATE`), waits for the others, and commits with an fsync.
"""

import fcntl
import os
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final, TypeVar

import apsw

from peerline.database import failure
from peerline.database.connection import NotOurs, prepare
from peerline.database.migrations import migrate
from peerline.database.sql import Sql
from peerline.network.tables.api import Tx
from peerline.network.tables.schema import SCHEMAS

T = TypeVar("T")
APPLICATION_ID: Final = 0x5045454E  # "PEEN": a network's file of ours
BUSY_MS: Final = 30_000
_CACHE_KB: Final = 8_192


class NetworkFile:
    """A pool of connections; safe for several threads. Opened at the first use."""

    def __init__(self, path: Path, *, probe: Callable[[str], None] | None = None) -> None:
        self.path = path
        self._probe = probe
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
                value = work(Tx(Sql(connection)))
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
                return work(Tx(Sql(connection)))
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
                connection = _opened(self.path)
            except apsw.Error as error:
                raise failure.refusal(error) from error
        try:
            yield connection
        except BaseException:
            connection.close()  # what state it is in does not matter then
            raise
        with self._lock:
            self._free.append(connection)


def _opened(path: Path) -> apsw.Connection:
    prepare(path)
    connection = apsw.Connection(str(path), statementcachesize=128)
    try:
        connection.set_busy_timeout(BUSY_MS)
        if connection.pragma("user_version") < SCHEMAS[-1].version or connection.pragma("journal_mode") != "wal":
            _made(connection, path)
        elif connection.pragma("application_id") != APPLICATION_ID:
            raise NotOurs(f"{path} was written by another program; move it away")
        else:
            migrate(connection, SCHEMAS, path)  # refuses a newer one
        connection.pragma("synchronous", "full")
        connection.pragma("foreign_keys", True)
        connection.pragma("cache_size", -_CACHE_KB)
        connection.pragma("trusted_schema", False)
    except BaseException:
        connection.close()
        raise
    return connection


def _made(connection: apsw.Connection, path: Path) -> None:
    """Make or renew the tables; of several processes that open a new file at once, one does it."""
    turn = os.open(path.with_name(f"{path.name}-opening"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(turn, fcntl.LOCK_EX)
        if connection.pragma("application_id") != APPLICATION_ID:
            (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()[0]
            if tables:
                raise NotOurs(f"{path} was written by another program; move it away")
            connection.pragma("application_id", APPLICATION_ID)
        connection.pragma("journal_mode", "wal")
        connection.pragma("synchronous", "full")
        migrate(connection, SCHEMAS, path)
    finally:
        os.close(turn)
