"""The network's file: several processes of one home, one durable state."""

import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from peerline.database.connection import NotOurs
from peerline.database.migrations import TooNew
from peerline.network.tables.api import Tx
from peerline.network.tables.file import NetworkFile


def test_what_one_process_commits_another_reads_and_nothing_else(tmp_path: Path) -> None:
    one, other = NetworkFile(tmp_path / "net" / "peerline.db"), NetworkFile(tmp_path / "net" / "peerline.db")
    one.write(lambda tx: tx.meta.set("a", 1))

    def fails(tx: Tx) -> None:
        tx.meta.set("a", 2)
        raise ZeroDivisionError

    with pytest.raises(ZeroDivisionError):
        one.write(fails)
    assert other.read(lambda tx: tx.meta.number("a")) == 1
    assert (tmp_path / "net" / "peerline.db").stat().st_mode & 0o077 == 0


def test_many_processes_that_open_a_new_file_at_once_all_write(tmp_path: Path) -> None:
    script = (
        "import sys; from pathlib import Path; from peerline.network.tables.file import NetworkFile\n"
        "NetworkFile(Path(sys.argv[1])).write(lambda tx: tx.meta.set(sys.argv[2], 1))"
    )
    path = tmp_path / "peerline.db"
    started = [subprocess.Popen([sys.executable, "-c", script, str(path), f"p{number}"]) for number in range(8)]
    assert [process.wait(60) for process in started] == [0] * 8
    file = NetworkFile(path)
    assert all(file.read(lambda tx, n=number: tx.meta.number(f"p{n}")) == 1 for number in range(8))  # type: ignore[misc]


def test_it_is_opened_with_full_and_a_write_ahead_log(tmp_path: Path) -> None:
    file = NetworkFile(tmp_path / "peerline.db")
    file.write(lambda tx: tx.meta.set("a", 1))
    with file._connection() as connection:
        assert (connection.pragma("synchronous"), connection.pragma("journal_mode")) == (2, "wal")


def test_another_programs_file_and_a_newer_one_are_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "peerline.db"
    foreign = apsw.Connection(str(path))
    foreign.execute("CREATE TABLE theirs (x)")
    foreign.close()
    path.chmod(0o600)
    before = path.read_bytes()
    with pytest.raises(NotOurs):
        NetworkFile(path).read(lambda tx: None)
    assert path.read_bytes() == before
    newer = NetworkFile(tmp_path / "newer.db")
    newer.write(lambda tx: tx.meta.set("a", 1))
    with newer._connection() as connection:
        connection.pragma("user_version", 99)
    newer.close()
    with pytest.raises(TooNew):
        newer.read(lambda tx: None)
