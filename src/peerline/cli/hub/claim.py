"""Who runs the hub of a state folder: `hub.pid`, held by a lock of the system, and `hub.stop`, which asks it to end.

The lock dies with its process, so a claim cannot outlive its hub and a recycled process number fools nobody. A claim
without a lock may still be alive: another implementation of the contract writes the same file and locks nothing.
"""

import fcntl
import json
import os
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import private_write
from peerline.cli.options import refused

LOOK_S: Final = 0.25
TRIES: Final = 20


@dataclass(frozen=True, slots=True)
class Holder:
    pid: int
    started_at: str


def already(pid: int) -> Failure:
    return refused("hub_already_running", f"KXM hub is already managed by PID {pid}", nextAction="kxm hub stop")


class Claim:
    """Held from `take` to `release`; a second `take` on the same folder is refused."""

    def __init__(self, root: Path) -> None:
        self._path = root / "hub.pid"
        self._control = root / "hub.stop"
        self._fd = -1
        self._released = threading.Event()
        self.started_at = ""

    def take(self) -> None:
        """Raises Failure: another hub runs here, or the claim is in no form that we know."""
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        while self._fd < 0:
            fd = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
            try:
                self._lock(fd)
            except BaseException:
                os.close(fd)
                raise
            self._fd = fd if self._still_there(fd) else -1
            if self._fd < 0:
                os.close(fd)  # its holder removed it between our open and our lock
        self.started_at = datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
        body = {"version": 1, "pid": os.getpid(), "serverPid": os.getpid(), "role": "hub"}
        body |= {"startedAt": self.started_at, "controlFile": self._control.name, "locked": True}
        os.ftruncate(self._fd, 0)
        os.pwrite(self._fd, json.dumps(body).encode(), 0)
        self._control.unlink(missing_ok=True)

    def watch(self, stop: Callable[[], None]) -> None:
        """Call `stop` once, from a thread, when the control file names this hub."""

        def look() -> None:
            while not self._released.wait(LOOK_S):
                if _read(self._control).get("startedAt") == self.started_at:
                    self._control.unlink(missing_ok=True)
                    stop()
                    return

        threading.Thread(target=look, name="hub.stop", daemon=True).start()

    def release(self) -> None:
        self._released.set()
        with suppress(OSError):
            self._path.unlink()
        os.close(self._fd)

    def _lock(self, fd: int) -> None:
        for left in range(TRIES, 0, -1):
            try:
                fcntl.flock(fd, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                # Held by a hub; or for a moment by one that only looks, or that has not written its number yet.
                found = holder(self._path.parent)
                if found is not None:
                    raise already(found.pid) from None
                if left == 1:
                    raise refused("hub_already_running", "KXM hub is already managed by another process") from None
                time.sleep(LOOK_S / 10)
        text = os.pread(fd, 65_536, 0)
        if not text:
            return
        body = _object(text)
        if type(body.get("pid")) is not int or body.get("role") != "hub":
            raise refused("claim_malformed", f"{self._path} is no claim of a hub; remove it if no hub runs")
        if not body.get("locked") and _alive(body["pid"]):
            raise already(body["pid"])

    def _still_there(self, fd: int) -> bool:
        try:
            return os.fstat(fd).st_ino == self._path.stat().st_ino
        except FileNotFoundError:
            return False


def holder(root: Path) -> Holder | None:
    """Who runs the hub of this state folder, if one runs."""
    path = root / "hub.pid"
    body = _read(path)
    pid, started_at = body.get("pid"), body.get("startedAt")
    if type(pid) is not int or not isinstance(started_at, str):
        return None
    alive = _locked(path) if body.get("locked") else _alive(pid)
    return Holder(pid, started_at) if alive else None


def ask_to_stop(root: Path, found: Holder) -> None:
    """Write the control file for exactly this hub: one that starts meanwhile does not obey it."""
    private_write(str(root / "hub.stop"), json.dumps({"startedAt": found.started_at}).encode())


def _locked(path: Path) -> bool:
    try:
        fd = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(fd, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(fd)
    return False


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True


def _read(path: Path) -> dict[str, Any]:
    try:
        return _object(path.read_bytes())
    except OSError:
        return {}


def _object(text: bytes) -> dict[str, Any]:
    try:
        body = json.loads(text)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}
