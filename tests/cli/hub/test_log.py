"""The hub's log."""

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from peerline.cli.hub.log import HubLog


def events(path: Path) -> list[int]:
    return [json.loads(line)["n"] for line in path.read_text().splitlines()]


def test_each_event_is_a_line_of_json_in_a_file_of_this_user_alone(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "hub.jsonl"
    log = HubLog(path)
    log({"event": "started", "name": "ä\n\x1b[2J"})
    log.close()
    assert path.read_text() == '{"event":"started","name":"\\u00e4\\n\\u001b[2J"}\n'
    assert (path.stat().st_mode & 0o777, path.parent.stat().st_mode & 0o777) == (0o600, 0o700)


def test_a_full_log_is_set_aside_and_the_oldest_one_goes(tmp_path: Path) -> None:
    path = tmp_path / "hub.jsonl"
    log = HubLog(path, rotate_bytes=20, kept=2)
    for n in range(10):
        log({"n": n})  # 8 bytes a line: two in each file
    log.close()
    assert events(path) == [8, 9]
    assert [events(tmp_path / f"hub.jsonl.{number}") for number in (1, 2)] == [[6, 7], [4, 5]]
    assert not (tmp_path / "hub.jsonl.3").exists()


def test_a_restarted_hub_goes_on_in_the_same_file(tmp_path: Path) -> None:
    for n in range(2):
        log = HubLog(tmp_path / "hub.jsonl")
        log({"n": n})
        log.close()
    assert events(tmp_path / "hub.jsonl") == [0, 1]


def test_a_log_that_cannot_be_written_stops_nothing_and_is_tried_again(tmp_path: Path) -> None:
    path = tmp_path / "logs" / "hub.jsonl"
    path.parent.write_text("in the way")
    log = HubLog(path)
    log({"n": 0})
    path.parent.unlink()
    log({"n": 1})
    log.close()
    assert events(path) == [1]


def test_a_full_disk_loses_lines_and_nothing_else(tmp_path: Path) -> None:
    log = HubLog(Path("/dev/full"))
    log({"n": 0})
    log.close()
    assert os.listdir(tmp_path) == []  # noqa: PTH208


def test_the_echo_on_stdout_is_the_same_line(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = HubLog(tmp_path / "hub.jsonl")
    log({"n": 0})
    log.echo = True
    log({"n": 1})
    log.close()
    assert capsys.readouterr().out == '{"n":1}\n'


FLOOD = """
import sys
from pathlib import Path
from peerline.cli.hub.log import HubLog
log = HubLog(Path(sys.argv[1]))
log.echo = True
for n in range(5000):
    log({"n": n, "level": "info", "text": "x" * 100})
log.close()
"""


def test_a_reader_of_stdout_that_does_not_read_stops_nothing(tmp_path: Path) -> None:
    path = tmp_path / "hub.jsonl"
    hub = subprocess.Popen([sys.executable, "-c", FLOOD, str(path)], stdout=subprocess.PIPE)
    assert hub.wait(60) == 0  # nobody has read a byte
    assert hub.stdout
    hub.stdout.close()
    assert events(path)[-1] == 4999
