"""The terminal that nobody looks at: what a program on it shows, asks and leaves running."""

import os
import sys
from pathlib import Path

import pytest

from peerline.cli.setup.wake_terminal import Terminal

PATIENCE_S = 20.0
ENV = {"PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8"}


def test_the_last_thing_with_words_in_it_is_kept_without_colours(tmp_path: Path) -> None:
    script = r"printf '\033[31mno models here\033[0m\r\n\033]0;a title\007\r\n--\r\n'"
    with Terminal(["sh", "-c", script], tmp_path, ENV) as terminal:
        assert terminal.ends(PATIENCE_S)
    assert terminal.last_line == "no models here"


def test_a_program_that_asks_where_the_cursor_is_gets_an_answer(tmp_path: Path) -> None:
    script = (
        "import os, tty; tty.setraw(0); os.write(1, b'\\x1b[6n'); answer = os.read(0, 20);"
        "open('answer', 'wb').write(answer)"
    )
    with Terminal([sys.executable, "-c", script], tmp_path, ENV) as terminal:
        assert terminal.ends(PATIENCE_S)
    assert (tmp_path / "answer").read_bytes() == b"\x1b[1;1R"


def test_leaving_ends_what_the_program_started(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "begun")
    script = "sleep 1000 & echo $! > begun; wait"
    with Terminal(["sh", "-c", script], tmp_path, ENV) as terminal:
        child = int((tmp_path / "begun").read_text())
        assert not terminal.ended
    assert terminal.ended
    with pytest.raises(ProcessLookupError):
        _reaped(child)


def test_a_program_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(FileNotFoundError), Terminal([str(tmp_path / "gone")], tmp_path, ENV):
        pass


def _reaped(pid: int) -> None:
    """Raises ProcessLookupError once nothing of the process is left; its new parent, not we, takes it away."""
    while True:
        os.kill(pid, 0)
