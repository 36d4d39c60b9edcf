"""R13: one store has one hub: the second says who holds it and ends, and a killed holder is no obstacle."""

import os
import subprocess
import sys
import time
from pathlib import Path

import pytest

from .victim import PLAIN, Victim, started

ENDS_WITHIN_S = 1.0
TRIES = 5


def second(folder: Path, data: Path) -> Victim:
    """A hub of another state folder on the same file: only the lock on the file itself can tell them apart."""
    return Victim(folder / "second", data, command=PLAIN)


def refused(hub: Victim, pid: int) -> float:
    """It ended, named the holder and printed nothing that looks ready; how long that took."""
    began = time.monotonic()
    hub.launch()
    try:
        assert hub.first_line() == ""
        assert hub.ended() not in (0, -9)
        took = time.monotonic() - began
        assert str(pid) in hub.errors(), hub.errors()
        assert "Traceback" not in hub.errors()
        return took
    finally:
        hub.kill()


def test_a_second_hub_names_the_holder_and_ends_within_a_second(tmp_path: Path) -> None:
    with started(tmp_path) as first:
        other = second(tmp_path, first.data)
        # The fastest of a few starts: a busy machine may slow one, a hub that waits is never fast.
        assert min(refused(other, first.process.pid) for _ in range(TRIES)) <= ENDS_WITHIN_S
        assert first.running


def test_after_a_kill_the_next_hub_starts_at_once(tmp_path: Path) -> None:
    with started(tmp_path) as first:
        first.kill()
        other = second(tmp_path, first.data)
        try:
            other.start()
        finally:
            other.kill()


def test_a_symlink_to_the_file_leads_to_no_second_hub(tmp_path: Path) -> None:
    with started(tmp_path) as first:
        link = tmp_path / "link.db"
        link.symlink_to(first.data)
        other = second(tmp_path, link)
        other.launch()
        try:
            assert other.first_line() == ""
            assert other.ended() not in (0, -9)
            assert "Traceback" not in other.errors()
        finally:
            other.kill()


def test_a_folder_reached_by_a_symlink_leads_to_no_second_hub(tmp_path: Path) -> None:
    (tmp_path / "real").mkdir()
    (tmp_path / "alias").symlink_to(tmp_path / "real")
    with started(tmp_path, data=tmp_path / "real" / "hub.db") as first:
        refused(second(tmp_path, tmp_path / "alias" / "hub.db"), first.process.pid)


def test_a_bind_mount_of_the_folder_leads_to_no_second_hub(tmp_path: Path) -> None:
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("a bind mount needs root on Linux")
    (tmp_path / "real").mkdir()
    (tmp_path / "bound").mkdir()
    subprocess.run(["mount", "--bind", tmp_path / "real", tmp_path / "bound"], check=True)
    try:
        with started(tmp_path, data=tmp_path / "real" / "hub.db") as first:
            refused(second(tmp_path, tmp_path / "bound" / "hub.db"), first.process.pid)
    finally:
        subprocess.run(["umount", tmp_path / "bound"], check=True)


@pytest.mark.parametrize("races", [3, pytest.param(50, marks=[pytest.mark.slow, pytest.mark.timeout(300)])])
def test_of_hubs_that_start_at_once_exactly_one_serves(tmp_path: Path, races: int) -> None:
    data = tmp_path / "hub.db"
    for _ in range(races):
        hubs = [Victim(tmp_path / f"state-{n}", data) for n in range(2)]
        try:
            for hub in hubs:
                hub.launch()
            lines = [hub.first_line() for hub in hubs]
            assert sorted(line.startswith("kxm hub listening") for line in lines) == [False, True], lines
        finally:
            for hub in hubs:
                hub.kill()
