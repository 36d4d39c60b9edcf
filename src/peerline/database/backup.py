"""A consistent copy of a store, taken while its hub runs or not, with a manifest that says what it must be."""

import json
import os
import shutil
from collections.abc import Callable
from datetime import datetime
from pathlib import Path
from typing import Any, Final

import apsw

from peerline.database.connection import APPLICATION_ID, open_reader
from peerline.database.files import sha256, sync

SCHEMA: Final = "kxm.backup-manifest.v1"
MANIFEST: Final = "manifest.json"
STORE_ID: Final = "hub"
CREDENTIALS: Final = ("hub-env.json", "local-tokens.json", "agents")


class NoStore(Exception):
    """There is nothing to back up."""

    code = "backup_no_stores"


class Damaged(Exception):
    """SQLite finds the file inconsistent; the text holds its first complaint."""

    code = "database_corrupted"


def backup(store: Path, out: Path, now: datetime, entropy: Callable[[int], bytes]) -> tuple[Path, dict[str, Any]]:
    """Copy `store` into a new folder below `out`; returns the folder and its manifest.

    Whatever was acknowledged before the call is in the copy. The folder appears only once everything in it is checked
    and on the disk; what fails leaves nothing behind. The store itself is only read.

    Raises:
        NoStore, Damaged; OSError, apsw.Error: the disk.
    """
    if not store.is_file() or store.stat().st_size == 0:
        raise NoStore(f"there is no store at {store}; a hub makes one when it starts: kxm hub start")
    name = f"backup-{now:%Y%m%dT%H%M%S}Z-{entropy(3).hex()}"
    out.mkdir(mode=0o700, parents=True, exist_ok=True)
    draft = out / f".{name}.part"
    draft.mkdir(mode=0o700)
    try:
        copy = draft / store.name
        version = _copy(store, copy)
        manifest = {
            "schema": SCHEMA,
            "backupId": name,
            "createdAt": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "stores": [
                {
                    "storeId": STORE_ID,
                    "sourcePath": str(store),
                    "backupFile": copy.name,
                    "schemaVersion": version,
                    "sha256": sha256(copy),
                    "bytes": copy.stat().st_size,
                    "integrity": "ok",
                }
            ],
            "files": [],
            "omitted": [{"path": one, "reason": "credentials are never put into a backup"} for one in CREDENTIALS],
            "complete": True,
        }
        _write(draft / MANIFEST, (json.dumps(manifest, indent=2) + "\n").encode())
        sync(draft)
        draft.rename(out / name)
    except BaseException:
        shutil.rmtree(draft, ignore_errors=True)
        raise
    sync(out)
    return out / name, manifest


def _copy(store: Path, target: Path) -> int:
    """Page by page, in one reading that a writer need not wait for; returns the schema's version."""
    os.close(os.open(target, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600))
    try:
        source = open_reader(str(store))
        copy = apsw.Connection(str(target))
        try:
            with copy.backup("main", source, "main") as copying:
                copying.step(-1)
            copy.pragma("synchronous", "full")
            copy.pragma("journal_mode", "delete")  # one file: a write-ahead log beside it would be part of it
            try:
                complaint, version = examine(copy)
            except NoStore as error:
                raise NoStore(f"{store}: {error}") from None
        finally:
            copy.close()
            source.close()
    except (apsw.CorruptError, apsw.NotADBError):
        raise Damaged(f"{store} is damaged: SQLite cannot read it") from None
    if complaint is not None:
        raise Damaged(f"{store} is damaged: {complaint}")
    sync(target)
    return version


def examine(connection: apsw.Connection) -> tuple[str | None, int]:
    """SQLite's first complaint about a whole file, or None; and the version of its schema.

    Raises:
        NoStore: it is no store of ours.
        apsw.CorruptError, apsw.NotADBError: it can't even be asked.
    """
    if connection.pragma("application_id") != APPLICATION_ID:
        raise NoStore("the file was written by another program")
    version: int = connection.pragma("user_version")
    if version < 1:
        raise NoStore("the file holds no tables yet")
    found = connection.execute("PRAGMA integrity_check(1)").fetchall()
    complaint = str(found[0][0])
    return (None if complaint == "ok" else " ".join(complaint.split("***")[-1].split())), version


def _write(path: Path, data: bytes) -> None:
    with os.fdopen(os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(data)
        file.flush()
        os.fsync(file.fileno())
