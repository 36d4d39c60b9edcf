"""The demo: true from the first line to the last, alone on its machine, and honest when something is not so."""

import os
import re
import signal
import subprocess
import sys
from io import StringIO
from pathlib import Path
from typing import Any

import pytest

from peerline.cli.try_narrator import Narrator
from peerline.cli.try_stage import Broken, Stage
from peerline.cli.try_story import STEPS, Story

TRY = (sys.executable, "-m", "peerline.cli.hot", "peerline", "try")


def _environment(folder: Path) -> dict[str, str]:
    """A user with an empty home and wrong settings, none of which may reach the demo."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith(("KXM_", "XDG_"))}
    wrong = {"KXM_SERVER_URL": "http://127.0.0.1:9", "KXM_AUTH_TOKEN": "wrong", "KXM_PROJECT": "other"}
    return {**kept, **wrong, "HOME": str(folder / "home"), "TMPDIR": str(folder)}


def _processes_in(folder: Path) -> list[str]:
    """Commands whose environment names `folder`: what the demo started and has not ended."""
    found = []
    for entry in Path("/proc").glob("[0-9]*"):
        try:
            if os.fsencode(folder) in (entry / "environ").read_bytes():
                found.append((entry / "cmdline").read_bytes().replace(b"\0", b" ").decode())
        except OSError:
            continue  # ended meanwhile, or another user's
    return found


def test_the_story_is_told_and_nothing_is_left_running(tmp_path: Path) -> None:
    told = subprocess.run(TRY, env=_environment(tmp_path), capture_output=True, text=True, timeout=100, check=False)
    assert told.returncode == 0, told.stdout + told.stderr
    assert told.stderr == ""
    assert f"All {len(STEPS)} chapters did what they say" in told.stdout
    assert max(len(line) for line in told.stdout.splitlines()) < 80
    assert "\x1b" not in told.stdout
    assert _processes_in(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_a_reader_that_goes_away_leaves_nothing_running(tmp_path: Path) -> None:
    with subprocess.Popen(
        TRY, env=_environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as telling:
        assert telling.stdout is not None
        assert telling.stderr is not None
        assert telling.stdout.readline() == "\n"
        telling.stdout.close()
        assert telling.wait(timeout=60) == 128 + signal.SIGPIPE
        assert telling.stderr.read() == ""
    assert _processes_in(tmp_path) == []
    assert list(tmp_path.iterdir()) == []


def test_an_interrupt_leaves_nothing_running(tmp_path: Path) -> None:
    with subprocess.Popen(
        TRY, env=_environment(tmp_path), stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    ) as telling:
        assert telling.stdout is not None
        assert any("is online, and stays" in line for line in telling.stdout)
        telling.send_signal(signal.SIGINT)
        _, errors = telling.communicate(timeout=60)
    assert telling.returncode == 130
    assert re.fullmatch(r"\nstopped after \d+ s; nothing is left running\n", errors)
    assert _processes_in(tmp_path) == []


class Lying(Stage):
    """Changes what one command answered."""

    def __init__(self, narrator: Narrator, verb: str, lie: dict[str, Any]) -> None:
        super().__init__(narrator)
        self._lie = verb, lie

    def kxm(self, name: str, *words: str) -> dict[str, Any]:
        answer = super().kxm(name, *words)
        verb, lie = self._lie
        return {**answer, **lie} if words[0] == verb else answer


@pytest.mark.parametrize(
    ("verb", "lie"),
    [
        ("list", {"agents": []}),
        ("send", {"status": "delivered"}),
        ("send", {"messageId": "msg_" + "0" * 32}),
        ("await", {"status": "expired"}),
    ],
)
def test_a_step_that_does_not_hold_ends_the_story(verb: str, lie: dict[str, Any]) -> None:
    with Lying(Narrator(StringIO()), verb, lie) as stage:
        story = Story(stage)
        with pytest.raises(Broken):
            _tell(story)


def _tell(story: Story) -> None:
    for _, step in STEPS[:2]:
        step(story)


def test_a_long_line_is_folded_and_an_id_shortened() -> None:
    out = StringIO()
    Narrator(out).line("lead", "msg_" + "0123456789abcdef" * 2 + " " + "word " * 40)
    lines = out.getvalue().splitlines()
    assert len(lines) > 1
    assert max(map(len, lines)) < 80
    assert "msg_…abcdef word" in lines[0]
