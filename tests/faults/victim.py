"""A real hub in a process of its own that tests may hurt: killed, cut off, started again on the same store."""

import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from .connection import Connection

LAUNCHER = Path(__file__).parent / "hub_launcher.py"
PLAIN: Sequence[str] = (sys.executable, "-m", "peerline.cli.hot", "kxm", "hub", "start")
PROBED: Sequence[str] = (sys.executable, str(LAUNCHER))
READY = re.compile(r"kxm hub listening at http://[^:]+:(\d+); storage=(.*); auth=")
TOKEN = "a-project-token-of-a-fault-test"


@dataclass(slots=True)
class Victim:
    """Use `started`, which always ends it. `data` is the store's file; both outlive the process."""

    state: Path
    data: Path
    command: Sequence[str] = PROBED
    settings: Mapping[str, str] = field(default_factory=dict)
    prefix: Sequence[str] = ()
    port: int = 0
    ready_s: float = 0.0
    _process: subprocess.Popen[str] | None = field(default=None, init=False)
    _drainer: threading.Thread | None = field(default=None, init=False)

    def start(self, **extra: str) -> None:
        """Start it and wait for its first line; what it prints later goes to `state/stdout`.

        Raises:
            AssertionError: it ended first; the text is what it wrote.
        """
        began = time.monotonic()
        self.launch(**extra)
        line = self.first_line()
        ready = READY.match(line)
        if ready is None:
            self.process.wait(10)
            raise AssertionError(f"the hub did not start ({self.process.returncode}): {line}\n{self.errors()}")
        self.ready_s = time.monotonic() - began
        self.port = int(ready[1])
        self._drainer = threading.Thread(target=self._drain, args=(self.process,), daemon=True)
        self._drainer.start()

    def _drain(self, process: subprocess.Popen[str]) -> None:
        assert process.stdout is not None
        with (self.state / "stdout").open("a", buffering=1) as log, process.stdout as output:
            for line in output:
                log.write(line)

    def launch(self, **extra: str) -> None:
        """Start the process without waiting for anything."""
        assert self._process is None or self._process.poll() is not None, "still running"
        self.state.mkdir(parents=True, exist_ok=True, mode=0o700)
        inherited = {k: v for k, v in os.environ.items() if not k.startswith(("KXM_", "FAULT_", "XDG_"))}
        environment = {
            **inherited,
            "KXM_STATE_HOME": str(self.state),
            "KXM_DATA_PATH": str(self.data),
            "KXM_PORT": "0",
            "KXM_AUTH_TOKEN": TOKEN,
            "KXM_RATE_LIMIT_MAX": "100000000",
            "KXM_PAIR_LIMIT": "0",
            **self.settings,
            **extra,
        }
        with (self.state / "stderr").open("a") as errors:
            self._process = subprocess.Popen(
                [*self.prefix, *self.command],
                env=environment,
                cwd=self.state,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )

    @property
    def process(self) -> subprocess.Popen[str]:
        assert self._process is not None, "never started"
        return self._process

    def first_line(self) -> str:
        assert self.process.stdout is not None
        return self.process.stdout.readline()

    def errors(self) -> str:
        return (self.state / "stderr").read_text()[-4000:]

    def kill(self) -> int:
        """SIGKILL, if it still runs; the exit code."""
        if self._process is None:
            return 0
        if self._process.poll() is None:
            self._process.kill()
        return self.ended()

    def terminate(self) -> None:
        self.process.send_signal(signal.SIGTERM)

    def ended(self, within_s: float = 30.0) -> int:
        """Its exit code; waits for the end, also of reading what it printed: an open file would hold its disk."""
        code = self.process.wait(within_s)
        if self._drainer is not None:
            self._drainer.join(within_s)
        return code

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    def connection(self) -> Connection:
        return Connection(self.port)


@contextmanager
def started(
    folder: Path,
    *,
    command: Sequence[str] = PROBED,
    data: Path | None = None,
    prefix: Sequence[str] = (),
    settings: Mapping[str, str] | None = None,
) -> Iterator[Victim]:
    """A hub that is ready; killed when the block ends, however it ends."""
    hub = Victim(folder / "state", data or folder / "hub.db", command=command, settings=settings or {}, prefix=prefix)
    try:
        hub.start()
        yield hub
    finally:
        hub.kill()
