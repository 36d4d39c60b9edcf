"""A restore changes nothing until all is verified, and keeps what it replaces."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import apsw
import pytest

from peerline.database.backup import Damaged, backup
from peerline.database.connection import RestoreUnfinished, prepare
from peerline.database.files import sha256
from peerline.database.lock import FileLock, Held
from peerline.database.migrations import TooNew
from peerline.database.restore import Incomplete, WouldReplace, newest_good, restore, verify
from peerline.store.migrations import MIGRATIONS
from tests.database.stores import TEXTS, add, damage, open_store, store_with_texts, texts

NOW = datetime(2026, 11, 30, 16, 0, tzinfo=UTC)
NEWEST = MIGRATIONS[-1].version


@pytest.fixture
def store(tmp_path: Path) -> Path:
    return store_with_texts(tmp_path / "kxm.db")


@pytest.fixture
def saved(store: Path, tmp_path: Path) -> Path:
    return backup(store, tmp_path / "out", NOW, os.urandom)[0]


def test_a_restore_brings_the_texts_back_and_keeps_what_it_replaced(store: Path, saved: Path) -> None:
    writer = open_store(store)
    add(writer, 99, "since the backup, only in the log")
    # A hub that was killed: its write-ahead log stays.
    kept = {side: Path(f"{store}{side}").read_bytes() for side in ("", "-wal")}
    writer.close()
    for side, content in kept.items():
        Path(f"{store}{side}").write_bytes(content)
    aside = restore(verify(saved, NEWEST), store, NOW, replace=True)
    assert aside is not None
    assert texts(store) == list(TEXTS)
    assert store.stat().st_mode & 0o777 == 0o600
    assert texts(aside) == [*TEXTS, "since the backup, only in the log"]


def test_no_old_write_ahead_log_is_left_to_be_replayed(store: Path, saved: Path) -> None:
    for side in ("-wal", "-shm"):
        Path(f"{store}{side}").write_bytes(b"of the old file")
    restore(verify(saved, NEWEST), store, NOW, replace=True)
    assert [side for side in ("-wal", "-shm", ".restoring") if Path(f"{store}{side}").exists()] == []


def test_a_store_that_is_there_is_not_replaced_unasked(store: Path, saved: Path) -> None:
    before = sha256(store)
    with pytest.raises(WouldReplace):
        restore(verify(saved, NEWEST), store, NOW, replace=False)
    assert sha256(store) == before


def test_into_an_empty_place_nothing_needs_to_be_forced(saved: Path, tmp_path: Path) -> None:
    target = tmp_path / "new" / "kxm.db"
    assert restore(verify(saved, NEWEST), target, NOW, replace=False) is None
    assert texts(target) == list(TEXTS)


def test_a_running_hubs_store_is_not_replaced(store: Path, saved: Path) -> None:
    lock = FileLock(store)
    try:
        before = sha256(store)
        with pytest.raises(Held) as refused:
            restore(verify(saved, NEWEST), store, NOW, replace=True)
        assert refused.value.pid == os.getpid()
        assert sha256(store) == before
    finally:
        lock.release()


def change(saved: Path, how: Callable[[Any], None]) -> None:
    path = saved / "manifest.json"
    manifest = json.loads(path.read_bytes())
    how(manifest)
    path.write_text(json.dumps(manifest))


BREAKINGS: dict[str, Callable[[Path], object]] = {
    "the manifest is missing": lambda saved: (saved / "manifest.json").unlink(),
    "the manifest is cut short": lambda saved: (saved / "manifest.json").write_text('{"schema": "kxm.back'),
    "the manifest is a list": lambda saved: (saved / "manifest.json").write_text("[]"),
    "it says that it is incomplete": lambda saved: change(saved, lambda m: m.update(complete=False)),
    "another schema": lambda saved: change(saved, lambda m: m.update(schema="kxm.backup-manifest.v9")),
    "no store": lambda saved: change(saved, lambda m: m.update(stores=[])),
    "a file outside": lambda saved: change(saved, lambda m: m["stores"][0].update(backupFile="../kxm.db")),
    "the file is missing": lambda saved: (saved / "kxm.db").unlink(),
    "the file is cut short": lambda saved: os.truncate(saved / "kxm.db", 4096),
    "one bit is another": lambda saved: flip(saved / "kxm.db"),
}


def flip(path: Path) -> None:
    with path.open("r+b") as file:
        file.seek(20_000)
        (byte,) = file.read(1)
        file.seek(20_000)
        file.write(bytes([byte ^ 1]))


@pytest.mark.parametrize("what", BREAKINGS)
def test_a_backup_that_is_not_whole_is_refused(saved: Path, what: str) -> None:
    BREAKINGS[what](saved)
    with pytest.raises(Incomplete) as refused:
        verify(saved, NEWEST)
    assert refused.value.code == "restore_incomplete"


def test_a_backup_whose_damage_its_manifest_covers_is_refused(saved: Path) -> None:
    damage(saved / "kxm.db")
    change(saved, lambda m: m["stores"][0].update(sha256=sha256(saved / "kxm.db")))
    with pytest.raises(Damaged):
        verify(saved, NEWEST)


def test_a_backup_of_a_newer_peerline_is_refused(saved: Path) -> None:
    connection = apsw.Connection(str(saved / "kxm.db"))
    connection.pragma("user_version", NEWEST + 1)
    connection.close()
    change(saved, lambda m: m["stores"][0].update(sha256=sha256(saved / "kxm.db")))
    with pytest.raises(TooNew) as refused:
        verify(saved, NEWEST)
    assert refused.value.code == "runtime_schema_newer"


KILLED = """
import os, signal, sys
from datetime import UTC, datetime
from pathlib import Path
from peerline.database.restore import restore, verify
from peerline.store.migrations import MIGRATIONS

left = int(sys.argv[3])

def count(event, arguments):
    global left
    if event in ("os.rename", "os.remove"):
        left -= 1
        if left < 0:
            os.kill(os.getpid(), signal.SIGKILL)

found = verify(Path(sys.argv[1]), MIGRATIONS[-1].version)
sys.addaudithook(count)
restore(found, Path(sys.argv[2]), datetime.now(UTC), replace=True)
"""


def test_a_kill_at_any_step_leaves_the_old_store_or_one_that_no_hub_takes(store: Path, saved: Path) -> None:
    Path(f"{store}-wal").write_bytes(b"")
    original = store.read_bytes()
    outcomes = []
    for step in range(20):
        ran = subprocess.run(
            [sys.executable, "-c", KILLED, str(saved), str(store), str(step)], check=False, capture_output=True
        )
        if ran.returncode == 0:
            break
        assert ran.returncode == -9, ran.stderr
        try:
            prepare(store)
            outcomes.append("old")
            assert store.read_bytes() == original
        except RestoreUnfinished:
            outcomes.append("refused")
        store.write_bytes(original)
        Path(f"{store}-wal").write_bytes(b"")
    assert outcomes == sorted(outcomes), outcomes  # "old" until the point of no return, then "refused"
    assert outcomes.count("refused") >= 2
    assert texts(store) == list(TEXTS)
    prepare(store)


def test_the_newest_good_backup_is_found_behind_bad_ones(store: Path, tmp_path: Path) -> None:
    folders = [backup(store, tmp_path / "out", datetime(2026, 11, day, tzinfo=UTC), os.urandom)[0] for day in (1, 2, 3)]
    (folders[2] / "manifest.json").unlink()
    flip(folders[1] / "kxm.db")
    good, why = newest_good(tmp_path / "out", NEWEST)
    assert good is not None
    assert good.folder == folders[0]
    assert len(why) == 2


def test_without_any_backup_there_is_none(tmp_path: Path) -> None:
    assert newest_good(tmp_path / "nowhere", NEWEST) == (None, [])
