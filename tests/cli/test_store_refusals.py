"""A hub that cannot use its store says in one line why, by a code, and what to do; and leaves the store as it is."""

import json
import sqlite3
from collections.abc import Callable
from pathlib import Path

import pytest

from peerline.database.files import sha256
from tests.cli.hub.shell import Operator
from tests.database.stores import damage, store_with_texts


def foreign(path: Path) -> None:
    with sqlite3.connect(path) as theirs:
        theirs.execute("CREATE TABLE theirs (x)")
    theirs.close()


def newer(path: Path) -> None:
    store_with_texts(path)
    with sqlite3.connect(path) as ours:
        ours.execute("PRAGMA user_version = 99")
    ours.close()


def damaged(path: Path) -> None:
    damage(store_with_texts(path))


def linked(path: Path) -> None:
    path.symlink_to(store_with_texts(path.with_name("elsewhere.db")))


CASES: dict[str, tuple[Callable[[Path], object], str]] = {
    "runtime_schema_shape_invalid": (foreign, "KXM_DATA_PATH=/another/file kxm hub start"),
    "runtime_schema_newer": (newer, "install the newer Peerline, or go back: kxm restore DIR --force"),
    "database_corrupted": (lambda path: path.write_bytes(b"no database " * 1000), "kxm doctor --repair"),
    "storage_path_unsafe": (linked, "KXM_DATA_PATH=/another/file kxm hub start"),
}


@pytest.mark.parametrize("code", CASES)
def test_a_store_that_cannot_be_used_is_refused_in_one_line_and_left_alone(tmp_path: Path, code: str) -> None:
    make, next_action = CASES[code]
    store = tmp_path / "kxm.db"
    make(store)
    before = sha256(store)
    ran = Operator(tmp_path / "home").hub("start", KXM_DATA_PATH=str(store))
    told = json.loads(ran.stderr)
    assert (ran.code, ran.stdout) == (1, "")
    assert (told["error"], told["code"], told["nextAction"]) == ("hub_start_failed", code, next_action)
    assert str(store) in told["detail"] or "schema 99" in told["detail"]
    assert sha256(store) == before


def test_a_store_with_damaged_pages_is_refused_when_the_start_meets_them(tmp_path: Path) -> None:
    store = tmp_path / "kxm.db"
    damaged(store)
    ran = Operator(tmp_path / "home").hub("start", KXM_DATA_PATH=str(store))
    assert (ran.code, json.loads(ran.stderr)["code"]) == (1, "database_corrupted")
