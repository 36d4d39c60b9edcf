"""Keeps the parts of this machine running: starts each, again when it ends, and ends them in order."""

import os
import subprocess
import threading
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from typing import IO, Final

from peerline.cli.up.parts import HUB, Part
from peerline.core.ids import Millis
from peerline.database.folder import private_folder
from peerline.worker.restarts import Restarts

LOOK_S: Final = 2.0  # between looks at what somebody else runs, and for parts that are new
FIRST_LOOK_S: Final = 0.05
END_S: Final = 12.0
LOG_AT_MOST: Final = 4 * 1024 * 1024
STARTING, RUNNING, ELSEWHERE, WAITING, STOPPED = "starting", "running", "elsewhere", "waiting", "stopped"


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """How one part stands. `elsewhere`: somebody else runs it; `waiting`: it ended and is started again soon.

    `ours`: a supervisor started that process, this one or one that was killed.
    """

    name: str
    state: str
    pid: int | None
    since: Millis
    log: str
    restarts: int = 0
    ended: str = ""
    ours: bool = False


def starting(part: Part, now: Millis) -> Standing:
    return Standing(name=part.name, state=STARTING, pid=None, since=now, log=str(part.log))


class Kept:
    """One part, kept running by a thread of its own until `stop`."""

    def __init__(
        self,
        part: Part,
        *,
        after: Callable[[], None],
        changed: Callable[[Standing], None],
        now: Callable[[], Millis],
        pauses: Callable[[], Restarts],
        inherited: Collection[int],
    ) -> None:
        """`after` returns when the part may start for the first time; `inherited` are processes of ours before."""
        self._part, self._after, self._changed, self._now = part, after, changed, now
        self._pauses, self._inherited = pauses(), inherited
        self._stopping, self.settled = threading.Event(), threading.Event()
        self._child: subprocess.Popen[bytes] | None = None
        self._lock = threading.Lock()
        self.standing = starting(part, now())
        self._thread = threading.Thread(target=self._run, name=f"keep {part.name}", daemon=True)
        self._thread.start()

    def stop(self) -> None:
        """End it in order, by force where it hangs; returns when it has ended."""
        self._stopping.set()
        with self._lock:
            child = self._child
        if child is not None:
            with suppress(ProcessLookupError):
                child.terminate()
            try:
                child.wait(END_S)
            except subprocess.TimeoutExpired:
                child.kill()
        self._thread.join(END_S)
        self._say(state=STOPPED, pid=None)

    def _run(self) -> None:
        self._after()
        while not self._stopping.is_set():
            if (other := self._part.runs()) is not None:
                self._say(state=ELSEWHERE, pid=other if other > 0 else None, ours=other in self._inherited)
                self._stopping.wait(LOOK_S)
                continue
            began = self._now()
            ended = self._life()
            if self._stopping.is_set():
                return
            pause = self._pauses.ended(self._now() - began) or 0
            self._say(state=WAITING, pid=None, restarts=self._pauses.count, ended=ended)
            self._stopping.wait(pause / 1000)

    def _life(self) -> str:
        """One start until its end; how it ended."""
        try:
            with self._opened() as log, self._lock:
                if self._stopping.is_set():
                    return ""
                child = self._child = subprocess.Popen(
                    list(self._part.command),
                    env=self._part.env(),
                    stdin=subprocess.DEVNULL,
                    stdout=log,
                    stderr=log,
                    start_new_session=True,
                )
        except OSError as error:
            return f"could not be started: {error.strerror}"
        self._say(state=STARTING, pid=child.pid)
        while child.poll() is None and self.standing.state == STARTING:
            if self._part.runs() == child.pid and self._part.ready():
                self._say(state=RUNNING, pid=child.pid, ours=True)
            else:
                with suppress(subprocess.TimeoutExpired):
                    child.wait(FIRST_LOOK_S)
        code = child.wait()
        return f"ended by signal {-code}" if code < 0 else f"ended with exit code {code}"

    def _opened(self) -> IO[bytes]:
        log = self._part.log
        private_folder(log.parent)
        if log.is_file() and log.stat().st_size > LOG_AT_MOST:
            log.replace(log.with_name(log.name + ".1"))
        how = os.O_TRUNC if self._part.anew else os.O_APPEND
        flags = os.O_WRONLY | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        return os.fdopen(os.open(log, flags | how, 0o600), "ab")

    def _say(self, **changes: object) -> None:
        self.standing = replace(self.standing, since=self._now(), **changes)  # type: ignore[arg-type]
        if self.standing.state != STARTING:
            self.settled.set()
        self._changed(self.standing)


class Supervisor:
    """All parts of one machine; `found` says which there should be, `tell` gets all standings at each change."""

    def __init__(
        self,
        found: Callable[[], Sequence[Part]],
        tell: Callable[[list[Standing]], None],
        *,
        now: Callable[[], Millis],
        pauses: Callable[[], Restarts] = lambda: Restarts(None),
        inherited: Collection[int] = (),
    ) -> None:
        self._inherited = inherited
        self._found, self._tell, self._now, self._pauses = found, tell, now, pauses
        self._kept: dict[str, Kept] = {}
        self._standings: dict[str, Standing] = {}
        self._lock = threading.Lock()

    def run(self, ended: threading.Event) -> None:
        """Until `ended` is set; the hub is started first and ended last."""
        while not ended.is_set():
            new = [part for part in self._found() if part.name not in self._kept]
            for part in new:  # all of them are told as starting before the first one can say that it runs
                self._standings[part.name] = starting(part, self._now())
            for part in new:
                self._kept[part.name] = Kept(
                    part,
                    after=self._hub_settled if part.name != HUB else lambda: None,
                    changed=self._changed,
                    now=self._now,
                    pauses=self._pauses,
                    inherited=self._inherited,
                )
            ended.wait(LOOK_S)
        for kept in reversed(self._kept.values()):
            kept.stop()

    def _hub_settled(self) -> None:
        if (hub := self._kept.get(HUB)) is not None:
            hub.settled.wait(END_S)

    def _changed(self, standing: Standing) -> None:
        with self._lock:
            self._standings[standing.name] = standing
            self._tell(list(self._standings.values()))
