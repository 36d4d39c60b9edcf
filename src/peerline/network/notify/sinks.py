"""Where a notice goes: the desktop, a file, a terminal, a web address. Each says in one sentence why it did not.

No shell is started, and the text is never part of a program: it is an argument, a line or a JSON member.
"""

import json
import os
import shutil
import signal
import subprocess
import sys
import threading
from collections.abc import Mapping
from contextlib import suppress
from http.client import HTTPConnection, HTTPException, HTTPSConnection
from pathlib import Path
from typing import Final, TextIO
from urllib.parse import urlsplit

from peerline.database.files import sync
from peerline.database.folder import private_folder
from peerline.network.notify.notice import Notice

PATIENCE_S: Final = 5.0
KEPT: Final = 50

_DESKTOP: Final = (
    "DBUS_SESSION_BUS_ADDRESS", "DISPLAY", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "PATH", "WAYLAND_DISPLAY",
    "XAUTHORITY", "XDG_RUNTIME_DIR",
)  # fmt: skip
_SCRIPT: Final = (
    "on run argv",
    "display notification (item 2 of argv) with title (item 1 of argv)",
    "end run",
)


class NotTold(Exception):
    """The sink did not take the notice."""


def desktop(notice: Notice, environ: Mapping[str, str], platform: str = sys.platform) -> None:
    """Show it by the desktop's own program.

    Raises:
        NotTold: there is none, or it failed, or took longer than 5 s.
    """
    if platform == "darwin":
        program, words = "osascript", [word for line in _SCRIPT for word in ("-e", line)]
    else:
        urgency = "critical" if notice.urgent else "normal"
        program, words = "notify-send", ["--app-name=komnet", f"--urgency={urgency}", "--"]
    path = shutil.which(program, path=environ.get("PATH", os.defpath))
    if path is None:
        raise NotTold(f"{program} is not there")
    _run([path, *words, notice.title, notice.body], {name: environ[name] for name in _DESKTOP if name in environ})


def _run(command: list[str], environ: Mapping[str, str]) -> None:
    name = Path(command[0]).name
    try:
        process = subprocess.Popen(
            command,
            env=environ,
            cwd="/",
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
    except OSError as error:
        raise NotTold(f"{name} could not be started: {error.strerror}") from None
    try:
        code = process.wait(PATIENCE_S)
    except subprocess.TimeoutExpired:
        with suppress(ProcessLookupError):
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        raise NotTold(f"{name} took longer than {PATIENCE_S:.0f} s") from None
    if code:
        raise NotTold(f"{name} ended with code {code}")


def file(notice: Notice, path: Path, moment: str) -> None:
    """Put it on top of the file, which keeps the newest 50; the file is there whole or not at all.

    Raises:
        NotTold: the folder or the file cannot be written.
    """
    part = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        private_folder(path.parent)
        old = path.read_text(encoding="utf-8", errors="replace") if path.is_file() and not path.is_symlink() else ""
        entries = [line for line in old.splitlines() if line.startswith("- ")][: KEPT - 1]
        mark = "**urgent** " if notice.urgent else ""
        lines = ["# komnet: what you were told", "", f"- {moment} {mark}{notice.title} — {notice.body}", *entries, ""]
        handle = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(handle, "w", encoding="utf-8") as stream:
            stream.write("\n".join(lines))
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(path)
        sync(path.parent)
    except OSError as error:
        raise NotTold(f"{path.name} cannot be written: {error.strerror}") from None


def terminal(notice: Notice, stream: TextIO) -> None:
    """Write a line, and ring the bell where it is urgent.

    Raises:
        NotTold: it is no terminal any more.
    """
    try:
        if not stream.isatty():
            raise NotTold("there is no terminal")
        stream.write(f"{chr(7) if notice.urgent else ''}{notice.title} — {notice.body}\n")
        stream.flush()
    except (OSError, ValueError):
        raise NotTold("the terminal is gone") from None


def webhook(notice: Notice, address: str) -> None:
    """POST `{title, body, urgent}`; follows no redirect and reads no more than the answer's head.

    An address is often a secret itself, so no error names it.

    Raises:
        NotTold: nobody is there, the answer is not 2xx, or all of it takes longer than 5 s.
    """
    parts = urlsplit(address)
    kind = HTTPSConnection if parts.scheme == "https" else HTTPConnection
    connection = kind(parts.hostname or "", parts.port, timeout=PATIENCE_S)
    late = threading.Event()
    ending = threading.Timer(PATIENCE_S, _end, (connection, late))
    ending.daemon = True
    ending.start()
    try:
        content = json.dumps({"title": notice.title, "body": notice.body, "urgent": notice.urgent}).encode()
        target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
        connection.request("POST", target, content, {"Content-Type": "application/json", "Connection": "close"})
        status = connection.getresponse().status
    except (OSError, HTTPException, ValueError) as error:
        if isinstance(error, TimeoutError):
            late.set()  # the socket's own time-out may be the first to notice
        elif not late.is_set():
            raise NotTold(f"the webhook failed: {type(error).__name__}") from None
        status = 0
    finally:
        ending.cancel()
        connection.close()
    if late.is_set():
        raise NotTold(f"the webhook took longer than {PATIENCE_S:.0f} s")
    if not 200 <= status < 300:
        raise NotTold(f"the webhook answered {status}")


def _end(connection: HTTPConnection, late: threading.Event) -> None:
    """A server that trickles its answer is cut off: a socket's own time-out begins anew with each byte."""
    late.set()
    if connection.sock is not None:
        with suppress(OSError):
            connection.sock.shutdown(2)
