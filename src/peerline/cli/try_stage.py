"""The demo's stage: a hub on a temporary file, agents as real processes, and lines that say when what happened."""

import contextlib
import json
import os
import queue
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import threading
from collections.abc import Iterator
from pathlib import Path
from types import TracebackType
from typing import Any, Final, Self

from peerline.cli.try_narrator import Narrator

PATIENCE_S: Final = 10.0
LISTENING: Final = re.compile(r"kxm hub listening at (http://127\.0\.0\.1:(\d+)); storage=(.+); auth=\w+")


class Broken(Exception):
    """A step did not do what the story says of it."""


class Stage:
    """Starts what the story needs and, on leaving, ends all of it and removes its folder."""

    def __init__(self, narrator: Narrator) -> None:
        self.tell = narrator
        self.url = ""
        self.storage = ""
        self._port = "0"
        self._hub: subprocess.Popen[str] | None = None
        self._staying: list[Staying] = []

    def __enter__(self) -> Self:
        self._folder = Path(tempfile.mkdtemp(prefix="peerline-"))
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        with _uninterrupted():
            self.all_leave()
            if self._hub is not None and self._hub.poll() is None:
                self._hub.kill()
                self._hub.wait()
            shutil.rmtree(self._folder, ignore_errors=True)

    @property
    def state(self) -> str:
        """The state folder of everything on the stage."""
        return str(self._folder / "state")

    def start_hub(self) -> None:
        """Start it, on the same port and file as before if it ran already; sets `url` and `storage`."""
        with (self._folder / "hub.stderr").open("a") as errors, _uninterrupted():
            self._hub = subprocess.Popen(
                _python("peerline.cli.hot", "kxm", "hub", "start"),
                env=self._env(KXM_PORT=self._port, KXM_DAEMON="1"),
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=errors,
                text=True,
            )
        lines = _read_aside(self._hub.stdout)
        try:
            while (line := lines.get(timeout=PATIENCE_S)) is not None:
                if heard := LISTENING.search(line):
                    self.url, self._port, self.storage = heard[1], heard[2], heard[3]
                    return
        except queue.Empty:
            pass
        said = _last_line((self._folder / "hub.stderr").read_text())
        raise Broken(f"the hub did not start: {said or 'it said nothing'}")

    def all_leave(self) -> None:
        """End the agents that stay online."""
        for peer in self._staying:
            peer.end()

    def kill_hub(self) -> None:
        """What a crash does: no goodbye, nothing flushed that was not on the disk."""
        assert self._hub is not None
        self._hub.send_signal(signal.SIGKILL)
        self._hub.wait()

    def stop_hub(self) -> int:
        """Ask it to end; its exit code."""
        assert self._hub is not None
        self._hub.send_signal(signal.SIGTERM)
        try:
            return self._hub.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            raise Broken(f"the hub did not end within {PATIENCE_S:g} s of SIGTERM") from None

    def stay(self, name: str) -> "Staying":
        """Start an agent that stays online, and wait until it is."""
        with _uninterrupted():
            peer = Staying(name, self._env(KXM_AGENT_NAME=name), self._folder, self.tell)
            self._staying.append(peer)
        peer.wait_for("online")
        return peer

    def kxm(self, name: str, *words: str) -> dict[str, Any]:
        """What `kxm peer <words>` prints, run as agent `name`.

        Raises:
            Broken: it failed.
        """
        ran = self._run(name, words)
        if ran.returncode != 0:
            raise Broken(f"exit {ran.returncode}: {_last_line(ran.stderr) or _last_line(ran.stdout)}")
        return _object(ran.stdout)

    def refused(self, name: str, *words: str) -> str:
        """The text with which `kxm peer <words>` is refused.

        Raises:
            Broken: it was not.
        """
        ran = self._run(name, words)
        if ran.returncode != 1:
            raise Broken(f"this had to be refused, but: exit {ran.returncode}, {_last_line(ran.stdout)}")
        return str(_object(ran.stderr).get("detail"))

    def _run(self, name: str, words: tuple[str, ...]) -> subprocess.CompletedProcess[str]:
        self.tell.line(name, "$ kxm peer " + " ".join(f'"{word}"' if " " in word else word for word in words))
        try:
            return subprocess.run(
                _python("peerline.cli.hot", "kxm", "peer", *words),
                env=self._env(KXM_AGENT_NAME=name),
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                text=True,
                timeout=PATIENCE_S,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise Broken(f"no answer within {PATIENCE_S:g} s") from None

    def _env(self, **more: str) -> dict[str, str]:
        """The user's own settings must not reach the demo, nor the demo the user's hub."""
        clean = {name: value for name, value in os.environ.items() if not name.startswith("KXM_")}
        state = {"KXM_STATE_HOME": self.state, "KXM_PROJECT": "demo", "PYTHONIOENCODING": "utf-8"}
        return {**clean, **state, **({"KXM_SERVER_URL": self.url} if self.url else {}), **more}


class Staying:
    """An agent that stays online in a process of its own; what it does is told as it happens."""

    def __init__(self, name: str, env: dict[str, str], folder: Path, narrator: Narrator) -> None:
        self.name = name
        self._tell = narrator
        self._lost = False
        self._process = subprocess.Popen(
            _python("peerline.cli.try_stay"),
            env=env,
            cwd=folder,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        self._did = _read_aside(self._process.stdout, self._heard)

    def wait_for(self, did: str) -> dict[str, str]:
        """Its next act of this kind."""
        try:
            while (line := self._did.get(timeout=PATIENCE_S)) is not None:
                act: dict[str, str] = json.loads(line)
                if act["did"] == did:
                    return act
        except queue.Empty:
            raise Broken(f"{self.name} did not get to {did!r} within {PATIENCE_S:g} s") from None
        assert self._process.stderr is not None
        raise Broken(f"{self.name} ended: {_last_line(self._process.stderr.read())}")

    def end(self) -> None:
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(timeout=2)
        except subprocess.TimeoutExpired:
            self._process.kill()
            self._process.wait()

    def _heard(self, line: str) -> None:
        act = json.loads(line)
        again, self._lost = self._lost and act["did"] == "lost", act["did"] == "lost"
        if again:
            return
        told = {
            "online": "is online, and stays",
            "took": f"takes {act.get('id')} from {act.get('sender')}",
            "replied": f"has replied to {act.get('id')}",
            "lost": "has lost the hub, and tries again",
            "refused": f"is refused: {act.get('why')}",
        }
        self._tell.line(self.name, told[act["did"]])


@contextlib.contextmanager
def _uninterrupted() -> Iterator[None]:
    """Put Ctrl-C and SIGTERM off: a process that is being started, or ended, must not be forgotten."""
    came: list[int] = []
    signals = (signal.SIGINT, signal.SIGTERM)
    before = [signal.signal(number, lambda number, _: came.append(number)) for number in signals]
    try:
        yield
    finally:
        for number, handler in zip(signals, before, strict=True):
            signal.signal(number, handler)
    if came:
        raise KeyboardInterrupt


def _python(*words: str) -> list[str]:
    return [sys.executable, "-m", *words]


def _last_line(text: str) -> str:
    """A traceback says what matters at its end; one JSON line is all there is."""
    return text.strip().rpartition("\n")[2]


def _object(text: str) -> dict[str, Any]:
    try:
        value = json.loads(text)
    except ValueError:
        value = None
    if not isinstance(value, dict):
        raise Broken(f"no JSON object came, but {text.strip()[:200]!r}")
    return value


def _read_aside(stream: Any, heard: Any = None) -> "queue.Queue[str | None]":
    """The lines of `stream` as they come, then None: a pipe that nobody reads would block its writer."""
    lines: queue.Queue[str | None] = queue.Queue()

    def read() -> None:
        for line in stream:
            if heard is not None:
                with contextlib.suppress(BrokenPipeError):  # the story's own next line meets it too
                    heard(line)
            lines.put(line)
        lines.put(None)

    threading.Thread(target=read, daemon=True).start()
    return lines
