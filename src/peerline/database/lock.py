"""One process a file: a lock of the operating system on the database's own inode, which ends with its holder."""

import errno
import fcntl
import os
import time
from pathlib import Path
from typing import Final

# Between its fork and its exec a child has the lock of a parent that was killed meanwhile.
LINGERS_S: Final = 1.0
# `lock_holder` has a shared lock for a moment, which is nobody's who holds the file.
GLANCE_S: Final = 0.2
LOOK_S: Final = 0.02


class Held(Exception):
    """Another process has the file open as its hub; `pid` is that process, or None when it can't be told."""

    code = "storage_held"

    def __init__(self, path: Path, pid: int | None) -> None:
        holder = f"process {pid}" if pid else "another process"
        super().__init__(f"{path} is in use by {holder}; stop it, or point KXM_DATA_PATH to another file")
        self.pid = pid


def lock_holder(path: Path) -> int | None:
    """Who holds the `FileLock` of this file; -1 if that cannot be told, None if nobody does."""
    try:
        file = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    except OSError:
        return None
    try:
        fcntl.flock(file, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return _noted(Path(f"{os.path.realpath(path)}-holder")) or -1
    finally:
        os.close(file)
    return None


def _noted(note: Path) -> int | None:
    try:
        return int(note.read_text())
    except (OSError, ValueError):
        return None


def _lives(pid: int | None) -> bool:
    """None, who can't be told, counts as living."""
    if pid is None:
        return True
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except (OSError, OverflowError):
        return True
    return True


class FileLock:
    """Held from construction to `release`. The lock is on the inode, so links and bind mounts lead to the same one.

    It must be taken before SQLite opens the file and released after SQLite closed it: closing any descriptor of a
    file drops this process's POSIX locks on it, which SQLite relies on.
    """

    def __init__(self, path: Path) -> None:
        """Raises: Held."""
        self._note = Path(f"{os.path.realpath(path)}-holder")
        self._file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
        try:
            self._take()
        except OSError as error:
            os.close(self._file)
            if error.errno in (errno.EWOULDBLOCK, errno.EACCES):
                raise Held(path, _noted(self._note)) from None
            raise
        note = os.open(self._note, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW, 0o600)
        try:
            os.write(note, f"{os.getpid()}\n".encode())
        except OSError:
            pass  # a full disk must not keep the hub from starting: the lock itself is held
        finally:
            os.close(note)

    def _take(self) -> None:
        """Raises: OSError: a living process has it."""
        began = time.monotonic()
        while True:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            except OSError:
                waited = time.monotonic() - began
                if waited >= LINGERS_S or (waited >= GLANCE_S and _lives(_noted(self._note))):
                    raise
            time.sleep(LOOK_S)

    def release(self) -> None:
        """Never unlinks: a waiter would then lock a file that nobody else sees."""
        os.close(self._file)
