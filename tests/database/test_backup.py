"""A backup is whole, sound and private, and whatever was acknowledged before it began is in it."""

import json
import os
import sqlite3
from datetime import UTC, datetime
from pathlib import Path

import pytest

from peerline.database.backup import Damaged, NoStore, backup
from peerline.database.files import sha256
from peerline.store.migrations import MIGRATIONS
from tests.database.stores import TEXTS, add, damage, open_store, store_with_texts, texts

NOW = datetime(2026, 11, 30, 16, 0, tzinfo=UTC)


def test_a_backup_holds_every_text_and_says_what_it_is(tmp_path: Path) -> None:
    folder, manifest = backup(store_with_texts(tmp_path / "kxm.db"), tmp_path / "out", NOW, os.urandom)
    copy = folder / "kxm.db"
    assert texts(copy) == list(TEXTS)
    assert json.loads((folder / "manifest.json").read_bytes()) == manifest
    assert manifest["schema"] == "kxm.backup-manifest.v1"
    assert manifest["complete"] is True
    assert manifest["createdAt"] == "2026-11-30T16:00:00.000Z"
    assert folder.name == manifest["backupId"]
    (store,) = manifest["stores"]
    assert store["sha256"] == sha256(copy)
    assert store["bytes"] == copy.stat().st_size
    assert store["schemaVersion"] == len(MIGRATIONS)


def test_a_backup_is_its_owners_alone(tmp_path: Path) -> None:
    folder, _ = backup(store_with_texts(tmp_path / "kxm.db"), tmp_path / "out", NOW, os.urandom)
    assert [path.stat().st_mode & 0o777 for path in (tmp_path / "out", folder)] == [0o700, 0o700]
    assert {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()} == {
        "kxm.db": 0o600,
        "manifest.json": 0o600,
    }


def test_what_is_only_in_the_write_ahead_log_is_in_the_backup(tmp_path: Path) -> None:
    writer = open_store(tmp_path / "kxm.db")
    add(writer, 1, "only in the log")
    assert (tmp_path / "kxm.db-wal").stat().st_size > 0
    folder, _ = backup(tmp_path / "kxm.db", tmp_path / "out", NOW, os.urandom)
    writer.close()
    assert texts(folder / "kxm.db") == ["only in the log"]


def test_a_backup_while_a_writer_holds_its_lock_is_what_was_committed_before(tmp_path: Path) -> None:
    writer = open_store(tmp_path / "kxm.db")
    add(writer, 1, "committed")
    writer.execute("BEGIN IMMEDIATE")
    writer.execute("INSERT INTO body VALUES (2, 'not yet')")
    folder, _ = backup(tmp_path / "kxm.db", tmp_path / "out", NOW, os.urandom)
    writer.execute("COMMIT")
    writer.close()
    assert texts(folder / "kxm.db") == ["committed"]


def test_two_backups_of_one_second_are_two_folders(tmp_path: Path) -> None:
    store = store_with_texts(tmp_path / "kxm.db")
    assert {backup(store, tmp_path / "out", NOW, os.urandom)[0] for _ in range(2)} == set((tmp_path / "out").iterdir())


def test_a_damaged_store_gives_no_backup_and_leaves_nothing_behind(tmp_path: Path) -> None:
    store = store_with_texts(tmp_path / "kxm.db")
    damage(store)
    with pytest.raises(Damaged):
        backup(store, tmp_path / "out", NOW, os.urandom)
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("content", [None, b"", b"no database at all " * 300])
def test_what_is_no_store_gives_no_backup(tmp_path: Path, content: bytes | None) -> None:
    if content is not None:
        (tmp_path / "kxm.db").write_bytes(content)
    with pytest.raises((NoStore, Damaged)):
        backup(tmp_path / "kxm.db", tmp_path / "out", NOW, os.urandom)
    assert list(tmp_path.glob("out/*")) == []


def test_another_programs_file_gives_no_backup(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "kxm.db") as connection:
        connection.execute("CREATE TABLE theirs (x)")
    connection.close()
    with pytest.raises(NoStore, match="another program"):
        backup(tmp_path / "kxm.db", tmp_path / "out", NOW, os.urandom)
    assert list((tmp_path / "out").iterdir()) == []
