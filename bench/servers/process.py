"""A server under test: started on loopback in its own process group, watched until ready, ended by that group."""

import os
import shutil
import signal
import socket
import subprocess
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from time import monotonic, sleep
from typing import Any, Self

READY_WITHIN_S = 60.0
STOP_WITHIN_S = 20.0


class NotReady(Exception):
    """The server ended, or did not answer in time; the text ends with what it printed."""


class Process:
    """`address` is what the driver needs to reach it; `pid` is the root of the tree whose CPU counts."""

    def __init__(
        self, command: Sequence[str], log: Path, *, env: Mapping[str, str] | None = None, user: str | None = None
    ) -> None:
        self.address: dict[str, Any] = {}
        self._log = log
        self._name = command[0]
        # Should the bench itself be killed, the kernel ends its servers with it.
        guard = ["setpriv", "--pdeathsig", "KILL"] if shutil.which("setpriv") else []
        if user is not None:
            guard += ["--reuid", user, "--regid", user, "--clear-groups"]
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                [*guard, *command],
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                env={**surroundings(), **(env or {})},
                cwd=log.parent,
                start_new_session=True,
            )
        self.pid = self._process.pid

    def wait_until(self, ready: Callable[[], bool], within_s: float = READY_WITHIN_S) -> Self:
        """Return when `ready` says so; raises NotReady, with the server ended, when it never does."""
        deadline = monotonic() + within_s
        while not ready():
            if self.ended or monotonic() > deadline:
                self.stop()
                raise NotReady(f"{self._name}: {self.output()[-1500:]}")
            sleep(0.002)
        return self

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def output(self) -> str:
        return self._log.read_text(errors="replace")

    def stop(self) -> None:
        self._signal(signal.SIGTERM)
        try:
            self._process.wait(STOP_WITHIN_S)
        except subprocess.TimeoutExpired:
            pass
        self._signal(signal.SIGKILL)  # its group may outlive it
        self._process.wait()

    def _signal(self, number: signal.Signals) -> None:
        try:
            os.killpg(self.pid, number)
        except ProcessLookupError:
            pass

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.stop()


def surroundings() -> dict[str, str]:
    """The caller's environment without what would configure a hub or a network."""
    return {name: value for name, value in os.environ.items() if not name.startswith(("KXM_", "KOMNET_"))}


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def accepts(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), timeout=1):
            return True
    except OSError:
        return False
