"""A client in a terminal of its own: tmux, on a socket that no other tmux uses."""

import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Self


class Terminal:
    """`with Terminal(command, folder, environment) as terminal:`; leaving ends the program and its terminal."""

    def __init__(self, command: Sequence[str], folder: Path, environment: Mapping[str, str]) -> None:
        self._command, self._folder = list(command), folder
        self._environment = {**environment, "TERM": "xterm-256color"}
        # Short, and not under pytest's folder: a socket's path has to fit into 108 bytes.
        self._home = Path(tempfile.mkdtemp(prefix="kxm-tmux-"))
        self._tmux = ["tmux", "-f", "/dev/null", "-S", str(self._home / "socket")]

    def __enter__(self) -> Self:
        size = ["-x", "180", "-y", "50"]
        self._run("new-session", "-d", "-s", "main", *size, "-c", str(self._folder), *self._command)
        return self

    def __exit__(self, *_: object) -> None:
        subprocess.run([*self._tmux, "kill-server"], check=False, capture_output=True)
        shutil.rmtree(self._home, ignore_errors=True)

    @property
    def screen(self) -> str:
        """What a person would see now; empty when the program has ended."""
        words = [*self._tmux, "capture-pane", "-p", "-t", "main"]
        shown = subprocess.run(words, check=False, capture_output=True, text=True)
        return shown.stdout

    def type(self, text: str) -> None:
        """Type the text and press Enter."""
        self._run("send-keys", "-t", "main", "-l", text)
        self.press("Enter")

    def press(self, key: str) -> None:
        self._run("send-keys", "-t", "main", key)

    def _run(self, *words: str) -> None:
        subprocess.run(
            [*self._tmux, *words], env=self._environment, check=True, capture_output=True, stdin=subprocess.DEVNULL
        )
