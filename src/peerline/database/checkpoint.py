"""The write-ahead log is moved into the file in the background, and never grows without bound (R12)."""

import threading
from collections.abc import Callable

import apsw

from peerline.database import failure
from peerline.database.connection import SAFE_WAL_RESET, open_writer

START_PAGES = 1_000  # about 4 MB: a passive checkpoint beside the writer
FORCE_PAGES = 6_000  # about 24 MB: the writer finishes it, so that the log starts anew
FORCE_STEP = 500  # how much longer the log may grow before the next try, when somebody held it
FORCE_WAIT_MS = 50
STOP_PAGES = 15_000  # about 60 MB: somebody holds the log; no more writes until they let go
HELD = apsw.BusyError("the log is held")


class Checkpoints:
    """Passive checkpoints on a thread with a connection of its own; `pages` is the log's length after each commit."""

    def __init__(self, path: str, vfs: str | None = None, background: bool = True) -> None:
        self.pages = 0
        self.reason: apsw.Error = HELD  # why the log is not moved, should it become too long
        self._next_force = FORCE_PAGES
        self._path, self._vfs = path, vfs
        self._asked_at = 0  # the log's length when the background was last asked for a checkpoint
        self._moving = threading.Lock()  # our two checkpoints take turns; SQLite would call the other one busy
        self._forcing = False
        self._wanted = threading.Event()
        self._stopping = False
        self._thread: threading.Thread | None = None
        if background and SAFE_WAL_RESET and path != ":memory:":
            self._thread = threading.Thread(target=self._loop, name="checkpoint", daemon=True)
            self._thread.start()

    def committed(self, connection: apsw.Connection, name: str, pages: int) -> int:
        """SQLite's WAL hook: called by the writer's connection after each commit that wrote."""
        self.pages = pages
        if pages < self._asked_at:
            self._asked_at = 0  # it began anew
        if pages - self._asked_at >= START_PAGES:
            self._asked_at = pages
            self._wanted.set()
        return apsw.SQLITE_OK

    @property
    def due(self) -> bool:
        """Whether the writer must finish a checkpoint itself before it writes on."""
        return self.pages >= (START_PAGES if self._thread is None else self._next_force)

    def force(self, connection: apsw.Connection, alarm: Callable[[int], None]) -> bool:
        """Called between two groups; False while the log can't be moved and is too long to take writes. May block.

        Raises:
            apsw.IOError: an fsync failed; the process must end.
        """
        self._forcing = True
        with self._moving:
            self._forcing = False
            return self._force(connection, alarm)

    def _force(self, connection: apsw.Connection, alarm: Callable[[int], None]) -> bool:
        connection.set_busy_timeout(FORCE_WAIT_MS)
        try:
            left, moved = connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_RESTART)
        except apsw.Error as error:
            if not isinstance(error, apsw.BusyError):  # else the background's own failing try may be the holder
                self.reason = error
            if failure.fatal(self.reason):
                raise self.reason from None
            self._next_force = self.pages + FORCE_STEP
        else:
            self.reason = HELD
            self.pages = 0 if left == moved else self.pages
            self._next_force = FORCE_PAGES
        finally:
            connection.set_busy_timeout(0)
        if self.pages < STOP_PAGES:
            return True
        self._next_force = STOP_PAGES
        alarm(self.pages)
        return False

    def _loop(self) -> None:
        connection = open_writer(self._path, self._vfs)
        try:
            while True:
                self._wanted.wait()
                self._wanted.clear()
                if self._stopping:
                    return
                if self._forcing:
                    continue  # the writer is about to do more than this
                try:
                    with self._moving:
                        connection.wal_checkpoint(mode=apsw.SQLITE_CHECKPOINT_PASSIVE)
                except apsw.BusyError:
                    continue
                except apsw.Error as error:
                    self.reason = error  # the writer's own turn reports what is wrong with the disk
                else:
                    self.reason = HELD
        finally:
            connection.close()

    def stop(self) -> None:
        self._stopping = True
        self._wanted.set()
        if self._thread is not None:
            self._thread.join()
