"""Files: private, ours, one holder, full durability, a log that stays short."""

import os
import stat
import subprocess
import sys
import threading
from pathlib import Path

import apsw
import pytest

from peerline.database.checkpoint import FORCE_PAGES, START_PAGES, STOP_PAGES, Checkpoints
from peerline.database.connection import NotOurs, UnsafeFile, open_reader, open_writer, prepare
from peerline.database.lock import FileLock, Held, lock_holder

HOLD = """
import sys
from pathlib import Path
from peerline.database.lock import FileLock
lock = FileLock(Path(sys.argv[1]))
print("held", flush=True)
sys.stdin.read()
"""


def test_the_file_and_its_side_files_are_private(tmp_path: Path) -> None:
    path = tmp_path / "state" / "hub.db"
    prepare(path)
    connection = open_writer(str(path))
    connection.execute("CREATE TABLE t (n)").fetchall()
    modes = {file.name: stat.S_IMODE(file.stat().st_mode) for file in path.parent.iterdir()}
    connection.close()
    assert modes == {"hub.db": 0o600, "hub.db-wal": 0o600, "hub.db-shm": 0o600}
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


def test_durability_is_full_and_nothing_weaker(tmp_path: Path) -> None:
    prepare(tmp_path / "hub.db")
    connection = open_writer(str(tmp_path / "hub.db"))
    assert (connection.pragma("journal_mode"), connection.pragma("synchronous")) == ("wal", 2)
    connection.close()


@pytest.mark.parametrize("side", ["", "-wal", "-shm"])
def test_a_link_is_not_followed(tmp_path: Path, side: str) -> None:
    (tmp_path / "elsewhere").write_bytes(b"")
    Path(f"{tmp_path / 'hub.db'}{side}").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(UnsafeFile):
        prepare(tmp_path / "hub.db")
    assert (tmp_path / "elsewhere").read_bytes() == b""


def test_another_programs_file_is_refused_unchanged(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    foreign = apsw.Connection(str(path))
    foreign.execute("CREATE TABLE messages (id PRIMARY KEY, record)").fetchall()
    foreign.close()
    before = path.read_bytes()
    with pytest.raises(NotOurs):
        open_writer(str(path))
    assert path.read_bytes() == before


def test_a_reader_changes_nothing(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    prepare(path)
    writer = open_writer(str(path))
    writer.execute("CREATE TABLE t (n)").fetchall()
    reader = open_reader(str(path))
    with pytest.raises(apsw.Error):
        reader.execute("INSERT INTO t VALUES (1)").fetchall()
    reader.close()
    writer.close()


def test_a_second_holder_is_refused_and_told_the_pid_by_any_path(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    prepare(path)
    (tmp_path / "link.db").symlink_to(path)
    os.link(path, tmp_path / "hard.db")
    holder = subprocess.Popen(
        [sys.executable, "-c", HOLD, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdout
    assert holder.stdin
    assert holder.stdout.readline() == "held\n"
    for name in ("hub.db", "link.db"):
        with pytest.raises(Held) as refused:
            FileLock(tmp_path / name)
        assert refused.value.pid == holder.pid
        assert str(holder.pid) in str(refused.value)
    with pytest.raises(Held):
        FileLock(tmp_path / "hard.db")
    holder.kill()
    holder.wait()
    holder.stdin.close()
    holder.stdout.close()
    FileLock(path).release()


FORKING = """
import os, signal, sys
from pathlib import Path
from peerline.database.lock import FileLock
lock = FileLock(Path(sys.argv[1]))
if os.fork():
    print(os.getpid(), flush=True)
    signal.pause()
sys.stdin.read()
"""


def test_a_child_that_a_killed_holder_had_just_forked_keeps_nobody_out(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It has the lock until its exec: who comes then waits for it, and only where the holder itself is dead."""
    path = tmp_path / "gateway.lock"
    holder = subprocess.Popen(
        [sys.executable, "-c", FORKING, str(path)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert holder.stdin is not None
    assert holder.stdout is not None
    assert int(holder.stdout.readline()) == holder.pid
    with pytest.raises(Held):
        FileLock(path)
    holder.kill()
    holder.wait()
    looked: list[float] = []

    def the_child_goes_on(seconds: float) -> None:
        if not looked:
            holder.stdin.close()  # type: ignore[union-attr]
            holder.stdout.read()  # type: ignore[union-attr]
        looked.append(seconds)

    monkeypatch.setattr("peerline.database.lock.time.sleep", the_child_goes_on)
    FileLock(path).release()
    assert looked
    holder.stdout.close()


def test_the_log_is_finished_by_the_writer_when_nobody_does_it_in_the_background(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    prepare(path)
    connection = open_writer(str(path))
    checkpoints = Checkpoints(str(path), background=False)
    connection.set_wal_hook(checkpoints.committed)
    connection.execute("CREATE TABLE t (text)").fetchall()
    while not checkpoints.due:
        connection.execute("INSERT INTO t VALUES (zeroblob(100000))").fetchall()
    assert START_PAGES <= checkpoints.pages < FORCE_PAGES
    assert checkpoints.force(connection, lambda pages: None)
    assert not checkpoints.due
    size = Path(f"{path}-wal").stat().st_size
    connection.execute("INSERT INTO t VALUES (1)").fetchall()
    assert Path(f"{path}-wal").stat().st_size == size, "the log starts anew"
    connection.close()


def test_a_forgotten_reader_makes_the_log_an_alarm_and_not_a_full_disk(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    prepare(path)
    connection = open_writer(str(path))
    checkpoints = Checkpoints(str(path), background=False)
    connection.set_wal_hook(checkpoints.committed)
    connection.execute("CREATE TABLE t (text)").fetchall()
    reader = open_reader(str(path))
    reader.execute("BEGIN").fetchall()
    reader.execute("SELECT * FROM t").fetchall()
    alarms: list[int] = []
    for _ in range(2_000):
        if checkpoints.due and not checkpoints.force(connection, alarms.append):
            break
        connection.execute("INSERT INTO t VALUES (zeroblob(200000))").fetchall()
    assert alarms
    assert Path(f"{path}-wal").stat().st_size < 64 * 2**20
    reader.execute("COMMIT").fetchall()
    assert checkpoints.force(connection, alarms.append), "and all is well once the reader lets go"
    reader.close()
    connection.close()


def test_the_background_at_work_is_waited_for_and_not_taken_for_another_process(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    prepare(path)
    connection = open_writer(str(path))
    checkpoints = Checkpoints(str(path))
    connection.set_wal_hook(checkpoints.committed)
    connection.execute("CREATE TABLE t (text)").fetchall()
    alarms: list[int] = []
    forced: list[bool] = []
    began = threading.Event()

    def force() -> None:
        began.set()
        forced.append(checkpoints.force(connection, alarms.append))

    with checkpoints._moving:  # as the background holds it while a slow disk takes its pages
        checkpoints.pages = STOP_PAGES
        writer = threading.Thread(target=force)
        writer.start()
        assert began.wait(30)
    writer.join(30)
    assert (forced, alarms, checkpoints.pages) == ([True], [], 0)
    checkpoints.stop()
    connection.close()


def test_the_background_is_asked_once_for_each_four_megabytes(tmp_path: Path) -> None:
    checkpoints = Checkpoints(":memory:")
    connection = apsw.Connection(":memory:")
    asked = 0
    for pages in [*range(1, 5_001), *range(1, 1_501)]:  # the log grows, then begins anew
        checkpoints.committed(connection, "main", pages)
        asked += checkpoints._wanted.is_set()
        checkpoints._wanted.clear()
    assert asked == 6
    connection.close()


def test_who_only_looks_keeps_nobody_from_taking_the_lock(tmp_path: Path) -> None:
    path, looking, seen = tmp_path / "hub.db", threading.Event(), set[int | None]()
    FileLock(path).release()

    def look() -> None:
        while not looking.is_set():
            seen.add(lock_holder(path))

    thread = threading.Thread(target=look)
    thread.start()
    try:
        for _ in range(100):
            FileLock(path).release()
    finally:
        looking.set()
        thread.join()
    assert seen <= {None, -1, os.getpid()}


def test_a_lock_is_told_by_its_holder_s_process_and_is_left_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "hub.db"
    assert lock_holder(path) is None
    assert not path.exists()
    lock = FileLock(path)
    assert lock_holder(path) == os.getpid()
    note = Path(f"{path}-holder")
    note.unlink()
    assert lock_holder(path) == -1
    assert not note.exists()
    lock.release()
    assert lock_holder(path) is None
