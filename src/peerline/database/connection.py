"""How our SQLite files are opened: WAL, FULL, private, and nothing weaker (decision 5)."""

import os
import stat
from pathlib import Path

import apsw

from peerline.database.folder import private_folder

APPLICATION_ID = 0x50454552  # "PEER": this file is ours
BUSY_MS = 5_000
PAGE_CACHE_KB = 8_192
# SQLite before 3.51.3 can lose a WAL reset when two connections checkpoint: then only the writer may.
SAFE_WAL_RESET = apsw.SQLITE_VERSION_NUMBER >= 3_051_003


class NotOurs(Exception):
    """The file holds another program's tables; its `code` is what the hub refuses to start with."""

    code = "runtime_schema_shape_invalid"


UNFINISHED = ".restoring"  # beside the store while a restore is under way


class RestoreUnfinished(Exception):
    """A restore was ended in between: what lies at the path is neither the old store nor the new one."""

    code = "restore_unfinished"


class UnsafeFile(Exception):
    """The path is a link, or its folder is not a real private folder."""

    code = "storage_path_unsafe"


def prepare(path: Path) -> None:
    """Make the private folder and the private empty file that SQLite will then fill.

    Raises:
        UnsafeFile: the file or one of its side files is a link, or not a regular file.
        RestoreUnfinished
        OSError: the folder can't be made or written.
    """
    private_folder(path.parent)
    if Path(f"{path}{UNFINISHED}").exists():
        raise RestoreUnfinished(f"a restore of {path} was interrupted; run it again: kxm restore DIR --force")
    for side in ("", "-wal", "-shm"):
        file = Path(f"{path}{side}")
        try:
            mode = file.lstat().st_mode
        except FileNotFoundError:
            continue
        if not stat.S_ISREG(mode):
            raise UnsafeFile(f"{file} is not a regular file; refusing to follow it")
        if mode & 0o077:
            file.chmod(0o600)
    os.close(os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW, 0o600))


def open_writer(path: str, vfs: str | None = None) -> apsw.Connection:
    """The one connection that writes. `path` may be `:memory:`.

    Raises:
        NotOurs: the file has tables, but not ours.
    """
    connection = apsw.Connection(path, vfs=vfs, statementcachesize=256)
    connection.set_busy_timeout(BUSY_MS)
    # Plans must not look at bound values: with STAT4 built in, each new value would compile the statement anew.
    connection.config(apsw.SQLITE_DBCONFIG_ENABLE_QPSG, 1)
    application = connection.pragma("application_id")
    if application != APPLICATION_ID:
        (tables,) = connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()[0]
        if tables:
            raise NotOurs(f"{path} was written by another program; point KXM_DATA_PATH to another file")
        connection.pragma("application_id", APPLICATION_ID)
    connection.pragma("journal_mode", "wal")
    connection.pragma("synchronous", "full")
    connection.pragma("foreign_keys", True)
    connection.pragma("cache_size", -PAGE_CACHE_KB)
    connection.pragma("wal_autocheckpoint", 0)
    connection.pragma("trusted_schema", False)
    return connection


def open_reader(path: str, vfs: str | None = None) -> apsw.Connection:
    """A connection that can't change the file: for doctor, backup and the like."""
    connection = apsw.Connection(path, flags=apsw.SQLITE_OPEN_READONLY, vfs=vfs)
    connection.set_busy_timeout(BUSY_MS)
    connection.pragma("query_only", True)
    return connection
