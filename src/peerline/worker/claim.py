"""Who runs a worker, and that nobody else does; what an earlier one left running is ended first.

Both locks are the system's own. The second one is inherited by the harness: it is free when no harness of an earlier
worker lives, however that worker ended.
"""

import fcntl
import json
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from peerline.core.errors import Conflict
from peerline.worker.files import Files

LOOK_S: Final = 0.05
ORPHAN_S: Final = 10.0


class AlreadyManaged(Conflict):
    """Another process runs this worker."""

    code = "worker_already_running"


class OrphanLives(Conflict):
    """A harness of an earlier worker could not be ended."""

    code = "worker_orphan_lives"


@dataclass(frozen=True, slots=True)
class Orphan:
    """A harness that outlived its worker, and was ended."""

    pid: int


class Claim:
    """Held from `take` to `release`. `pause` waits so many seconds."""

    def __init__(self, files: Files, *, pause: Callable[[float], None]) -> None:
        self._files, self._pause = files, pause
        self._claim = self._child = -1
        self.started_at = ""
        self.inherits = False  # whether an earlier worker was killed

    def take(self, about: dict[str, Any]) -> Orphan | None:
        """Take the worker for this process; the orphan that had to be ended for it.

        Raises:
            AlreadyManaged, OrphanLives
            OSError: the state folder cannot be used.
        """
        self._claim = _opened(self._files.claim)
        if not _locked(self._claim):
            holder = _object(self._claim).get("pid", "unknown")
            os.close(self._claim)
            self._claim = -1
            raise AlreadyManaged(f"this worker is already managed by PID {holder}; stop it: kill {holder}")
        self.inherits = bool(_object(self._claim))
        try:
            self._child = _opened(self._files.child)
            orphan = self._end_orphan()
        except BaseException:
            self.release()
            raise
        self.started_at = str(about["startedAt"])
        _replace(self._claim, about)
        self._files.control.unlink(missing_ok=True)
        return orphan

    @property
    def inherited(self) -> int:
        """The descriptor that the harness has to inherit."""
        return self._child

    def child(self, pid: int) -> None:
        """Write down which process group to end if this one is killed."""
        _replace(self._child, {"pid": pid, "started": _started(pid)})

    @property
    def stop_asked(self) -> bool:
        """Whether the control file names this very worker."""
        return bool(self.started_at) and self._files.read(str(self._files.control)).get("startedAt") == self.started_at

    def release(self) -> None:
        for path, fd in ((self._files.child, self._child), (self._files.claim, self._claim)):
            if fd >= 0:
                path.unlink(missing_ok=True)
                os.close(fd)
        self._files.control.unlink(missing_ok=True)
        self._claim = self._child = -1

    def _end_orphan(self) -> Orphan | None:
        if _locked(self._child):
            return None
        about = _object(self._child)
        pid = about.get("pid")
        if type(pid) is int and pid > 1 and _started(pid) == about.get("started"):
            try:
                os.killpg(pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
        left = ORPHAN_S
        while not _locked(self._child):
            if left <= 0:
                raise OrphanLives(f"the session of an earlier worker still runs (PID {pid}); end it: kill -9 {pid}")
            self._pause(LOOK_S)
            left -= LOOK_S
        return Orphan(pid if type(pid) is int else 0)


def _opened(path: Path) -> int:
    path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    return os.open(path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)


def _locked(fd: int) -> bool:
    try:
        fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        return False
    return True


def _replace(fd: int, value: dict[str, Any]) -> None:
    line = json.dumps(value).encode()
    os.pwrite(fd, line, 0)
    os.ftruncate(fd, len(line))


def _object(fd: int) -> dict[str, Any]:
    try:
        value = json.loads(os.pread(fd, 65_536, 0))
    except ValueError:
        return {}
    return value if isinstance(value, dict) else {}


def _started(pid: int) -> str | None:
    """When the system began that process, in its own count; None where it does not tell."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return None
