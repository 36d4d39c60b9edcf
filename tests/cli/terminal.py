"""A command at a terminal of its own: a real pseudo-terminal, on which a person types."""

import os
import pty
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

from tests.hub_process import PATIENCE_S


def at_terminal(folder: Path, env: Mapping[str, str], *words: str, types: str = "") -> tuple[int, str]:
    """The exit code and all that stood on the terminal; `types` is typed ahead."""
    ours, theirs = pty.openpty()
    try:
        process = subprocess.Popen(
            [sys.executable, "-m", "peerline.cli.hot", *words],
            cwd=folder, env=env, stdin=theirs, stdout=theirs, stderr=theirs, start_new_session=True,
        )  # fmt: skip
        os.close(theirs)
        os.write(ours, types.encode())
        shown = b""
        while part := _read(ours):
            shown += part
        return process.wait(PATIENCE_S), shown.decode().replace("\r\n", "\n")
    finally:
        os.close(ours)


def _read(terminal: int) -> bytes:
    try:
        return os.read(terminal, 65_536)
    except OSError:  # how Linux says that the other side has closed
        return b""
