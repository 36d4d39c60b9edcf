"""Forward migrations: whole or not at all, with a copy before, and never on a file that is not ours to change."""

import sqlite3
import subprocess
import sys
from pathlib import Path

import apsw
import pytest

from peerline.database.connection import NotOurs, open_writer
from peerline.database.files import sha256
from peerline.database.migrations import Migration, TooNew, migrate
from peerline.store.migrations import MIGRATIONS
from tests.database.stores import TEXTS, store_with_texts, texts

NOW = len(MIGRATIONS)
NEXT = NOW + 1
COLOURED = Migration(
    NEXT,
    (
        "ALTER TABLE agent ADD COLUMN colour TEXT NOT NULL DEFAULT 'grey'",
        "CREATE INDEX agent_colour ON agent (colour)",
        "UPDATE agent SET colour = 'blue' WHERE name = 'to'",
    ),
)
BOTH = (*MIGRATIONS, COLOURED)

KILLED = """
import os, signal, sys
from pathlib import Path
from peerline.database.connection import open_writer
from peerline.database.migrations import migrate
from tests.database.test_migrations import BOTH

left = int(sys.argv[2])

def probe(point):
    global left
    left -= 1
    if left < 0:
        os.kill(os.getpid(), signal.SIGKILL)

migrate(open_writer(sys.argv[1]), BOTH, Path(sys.argv[1]), probe)
"""


def version(path: Path) -> int:
    connection = apsw.Connection(str(path))
    try:
        found = connection.pragma("user_version")
        assert isinstance(found, int)
        return found
    finally:
        connection.close()


def colours(path: Path) -> list[str]:
    connection = apsw.Connection(str(path))
    try:
        return [str(row[0]) for row in connection.execute("SELECT colour FROM agent ORDER BY id")]
    finally:
        connection.close()


def go_forward(path: Path) -> list[int]:
    connection = open_writer(str(path))
    try:
        return migrate(connection, BOTH, path)
    finally:
        connection.close()


def test_a_store_goes_forward_and_keeps_its_rows(tmp_path: Path) -> None:
    store = store_with_texts(tmp_path / "kxm.db")
    assert go_forward(store) == [NEXT]
    assert texts(store) == list(TEXTS)
    assert colours(store) == ["grey", "blue"]
    assert go_forward(store) == []


def test_before_the_first_step_the_file_is_copied_as_it_was(tmp_path: Path) -> None:
    store = store_with_texts(tmp_path / "kxm.db")
    go_forward(store)
    copy = tmp_path / f"kxm.db.before-{NEXT}"
    assert version(copy) == NOW
    assert texts(copy) == list(TEXTS)
    assert copy.stat().st_mode & 0o777 == 0o600
    assert not (tmp_path / f"kxm.db.before-{NEXT}.part").exists()


def test_a_new_store_needs_no_copy(tmp_path: Path) -> None:
    assert go_forward(tmp_path / "kxm.db") == list(range(1, NEXT + 1))
    assert list(tmp_path.glob("*.before-*")) == []


def test_a_copy_of_an_earlier_try_is_not_taken_for_todays(tmp_path: Path) -> None:
    store = store_with_texts(tmp_path / "kxm.db")
    (tmp_path / f"kxm.db.before-{NEXT}").write_bytes(b"of an earlier try")
    go_forward(store)
    assert texts(tmp_path / f"kxm.db.before-{NEXT}") == list(TEXTS)
    assert (tmp_path / f"kxm.db.before-{NEXT}.1").read_bytes() == b"of an earlier try"


@pytest.mark.parametrize("step", range(len(COLOURED.statements)))
def test_a_kill_at_any_step_leaves_the_old_version_whole(tmp_path: Path, step: int) -> None:
    store = store_with_texts(tmp_path / "kxm.db")
    ran = subprocess.run([sys.executable, "-c", KILLED, str(store), str(step)], check=False, capture_output=True)
    assert ran.returncode == -9, ran.stderr
    assert version(store) == NOW
    assert texts(store) == list(TEXTS)
    assert version(tmp_path / f"kxm.db.before-{NEXT}") == NOW
    assert go_forward(store) == [NEXT]
    assert colours(store) == ["grey", "blue"]


def test_a_failing_step_takes_the_whole_migration_back(tmp_path: Path) -> None:
    store = store_with_texts(tmp_path / "kxm.db")
    broken = Migration(NEXT, (COLOURED.statements[0], "UPDATE nothing SET x = 1"))
    connection = open_writer(str(store))
    with pytest.raises(apsw.SQLError):
        migrate(connection, (*MIGRATIONS, broken), store)
    connection.close()
    assert version(store) == NOW
    assert go_forward(store) == [NEXT]


def test_a_newer_schema_is_refused_and_not_touched(tmp_path: Path) -> None:
    store = store_with_texts(tmp_path / "kxm.db")
    go_forward(store)
    before = sha256(store)
    connection = open_writer(str(store))
    with pytest.raises(TooNew) as refused:
        migrate(connection, MIGRATIONS, store)
    connection.close()
    assert refused.value.code == "runtime_schema_newer"
    assert sha256(store) == before


def test_another_programs_file_is_refused_and_not_touched(tmp_path: Path) -> None:
    path = tmp_path / "theirs.db"
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE theirs (x)")
    theirs.close()
    before = sha256(path)
    with pytest.raises(NotOurs) as refused:
        open_writer(str(path))
    assert refused.value.code == "runtime_schema_shape_invalid"
    assert sha256(path) == before


def test_versions_count_from_one_without_gaps() -> None:
    assert [one.version for one in MIGRATIONS] == list(range(1, len(MIGRATIONS) + 1))
