"""The hub's log: one JSON object a line, in a file that is set aside when it grows, and on stdout."""

import json
import os
import select
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

import msgspec

from peerline.cli.hot_output import write

encode = msgspec.json.Encoder(enc_hook=str).encode

ROTATE_BYTES: Final = 10 * 1024 * 1024
KEPT: Final = 3
KEPT_EVENTS: Final = 500
PIPE_TAKES: Final = 4_096  # what a pipe that is writable at all takes without blocking


class HubLog:
    """Called with an event, whose members the composition has chosen: never a text or a token.

    A log that cannot be written stops nothing: its lines are lost, and writing is tried again with the next one.
    """

    def __init__(self, path: Path, *, rotate_bytes: int = ROTATE_BYTES, kept: int = KEPT) -> None:
        self._path = path
        self.echo = False  # also on stdout
        self._rotate_bytes = rotate_bytes
        self._kept = kept
        self._lock = threading.Lock()
        self._events: list[Mapping[str, Any]] = []
        self._fd = -1
        self._size = 0

    def __call__(self, event: Mapping[str, Any]) -> None:
        """Keep the line for the next `flush`; what is wrong is written at once."""
        self._events.append(event)
        if len(self._events) >= KEPT_EVENTS or event.get("level") != "info":
            self.flush()

    def flush(self) -> None:
        """Write what was kept: two calls of the system for all of it."""
        with self._lock:
            events, self._events = self._events, []
            if not events:
                return
            lines = b"".join([_line(event) for event in events])
            self._write(lines)
            if self.echo:
                self._echo(lines.decode())

    def close(self) -> None:
        self.flush()
        with self._lock:
            self._close()

    def _echo(self, lines: str) -> None:
        """Also on stdout, as far as its reader keeps up: a hub must not stand still because nobody reads its log."""
        for start in range(0, len(lines), PIPE_TAKES):
            try:
                if not _takes(1):
                    return
                write(1, lines[start : start + PIPE_TAKES])
            except OSError:
                self.echo = False  # nobody reads stdout any more
                return

    def _write(self, data: bytes) -> None:
        try:
            if self._fd < 0:
                self._open()
            if self._size and self._size + len(data) > self._rotate_bytes:
                self._rotate()
            self._size += os.write(self._fd, data)
        except OSError:
            self._close()

    def _open(self) -> None:
        self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | os.O_NOFOLLOW | os.O_CLOEXEC
        self._fd = os.open(self._path, flags, 0o600)
        self._size = os.fstat(self._fd).st_size

    def _rotate(self) -> None:
        self._close()
        for number in range(self._kept - 1, 0, -1):
            older = self._aside(number)
            if older.exists():
                older.replace(self._aside(number + 1))
        self._path.replace(self._aside(1))
        self._open()

    def _aside(self, number: int) -> Path:
        return self._path.with_name(f"{self._path.name}.{number}")

    def _close(self) -> None:
        if self._fd >= 0:
            os.close(self._fd)
        self._fd, self._size = -1, 0


def _line(event: Mapping[str, Any]) -> bytes:
    """ASCII, so that no name can steer a terminal that shows the log."""
    line = encode(event)
    if not line.isascii():
        line = json.dumps(event, ensure_ascii=True, separators=(",", ":"), default=str).encode()
    return line + b"\n"


def _takes(fd: int) -> bool:
    """Whether a write of `PIPE_TAKES` bytes returns at once."""
    waiting = select.poll()
    waiting.register(fd, select.POLLOUT)
    return bool(waiting.poll(0))
