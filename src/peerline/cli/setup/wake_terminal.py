"""A client on a terminal that nobody looks at: what it shows is read, and the questions that terminals get answered."""

import os
import re
import signal
import subprocess
import threading
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Final, Self

SHOWN_BYTES: Final = 65_536
LEAVE_S: Final = 3.0
ROWS, COLUMNS = 50, 160
# Where the cursor is, and what kind of terminal this is: some clients wait for the answers.
_ANSWERS: Final = {b"\x1b[6n": b"\x1b[1;1R", b"\x1b[c": b"\x1b[?62;22c"}
_CONTROL: Final = re.compile(r"\x1b(\][^\x07\x1b]*(\x07|\x1b\\)|\[[0-?]*[ -/]*[@-~]|[PX^_].*?\x1b\\|.)", re.DOTALL)


class Terminal:
    """`with Terminal(words, folder, env) as terminal:`; leaving ends the program and what it started.

    Raises:
        OSError: the program cannot be started, or this system has no such terminals.
    """

    def __init__(self, words: Sequence[str], folder: Path, env: Mapping[str, str]) -> None:
        self._words, self._folder, self._env = list(words), folder, {**env, "TERM": "xterm-256color"}
        self._shown = b""

    def __enter__(self) -> Self:
        try:
            import fcntl
            import pty
            import struct
            import termios
        except ImportError:
            raise OSError(0, "this system has no pseudo-terminals") from None

        self._ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", ROWS, COLUMNS, 0, 0))
        try:
            self._process = subprocess.Popen(
                self._words,
                cwd=self._folder,
                env=self._env,
                stdin=theirs,
                stdout=theirs,
                stderr=theirs,
                start_new_session=True,
                preexec_fn=lambda: fcntl.ioctl(0, termios.TIOCSCTTY, 0),  # noqa: PLW1509 (one system call, no lock)
            )
        except BaseException:
            os.close(self._ours)
            raise
        finally:
            os.close(theirs)
        self._reader = threading.Thread(target=self._read, daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        for number in (signal.SIGTERM, signal.SIGKILL):
            try:
                os.killpg(self._process.pid, number)
            except (ProcessLookupError, PermissionError):
                break
            try:
                self._process.wait(LEAVE_S)
            except subprocess.TimeoutExpired:
                continue
        self._process.wait()
        self._reader.join(LEAVE_S)
        os.close(self._ours)

    @property
    def ended(self) -> bool:
        return self._process.poll() is not None

    def ends(self, patience_s: float) -> bool:
        """Whether it ends by itself within that time."""
        try:
            self._process.wait(patience_s)
        except subprocess.TimeoutExpired:
            return False
        return True

    @property
    def last_line(self) -> str:
        """The last thing with words in it that the program showed."""
        text = _CONTROL.sub("\n", self._shown.decode("utf-8", "replace"))
        lines = [line.strip() for line in re.split(r"[\r\n]+", text)]
        return next((line for line in reversed(lines) if len(re.findall(r"\w", line)) > 3), "")[:200]

    def _read(self) -> None:
        while True:
            try:
                chunk = os.read(self._ours, 65_536)
            except OSError:
                return
            if not chunk:
                return
            self._shown = (self._shown + chunk)[-SHOWN_BYTES:]
            for question, answer in _ANSWERS.items():
                for _ in range(chunk.count(question)):
                    os.write(self._ours, answer)
