"""Bringing a backup back: everything is verified before anything is changed, and what it replaces is kept aside."""

import json
import os
import shutil
from datetime import datetime
from pathlib import Path
from typing import Any, Final, NamedTuple

import apsw

from peerline.database.backup import MANIFEST, SCHEMA, Damaged, NoStore, examine
from peerline.database.connection import UNFINISHED, open_reader
from peerline.database.files import sha256, sync
from peerline.database.lock import FileLock
from peerline.database.migrations import TooNew

SIDES: Final = ("-wal", "-shm", "-journal")


class Incomplete(Exception):
    """The backup is not whole: its manifest or a file is missing, cut short, or not what the manifest says."""

    code = "restore_incomplete"


class WouldReplace(Exception):
    """There is a store already, and the caller did not say that it may be replaced."""

    code = "restore_would_replace"


class Verified(NamedTuple):
    """A backup that is whole and sound; `file` is the copy in it."""

    folder: Path
    file: Path
    sha256: str
    created_at: str
    schema_version: int


def verify(folder: Path, newest_schema: int) -> Verified:
    """Read the manifest and hold every file against it.

    Raises:
        Incomplete, Damaged; TooNew: a newer Peerline wrote it.
    """
    manifest = _manifest(folder)
    (store,) = manifest["stores"]
    name, wanted = store["backupFile"], store["sha256"]
    if Path(name).name != name:
        raise Incomplete(f"{folder / MANIFEST} names a file outside of the backup")
    file = folder / name
    if file.is_symlink() or not file.is_file():
        raise Incomplete(f"{file} is missing")
    if file.stat().st_size != store["bytes"]:
        raise Incomplete(f"{file} has {file.stat().st_size} bytes, the manifest says {store['bytes']}")
    if sha256(file) != wanted:
        raise Incomplete(f"{file} is not what was backed up: its SHA-256 differs from the manifest's")
    return Verified(folder, file, wanted, manifest["createdAt"], _sound(file, newest_schema))


def _sound(file: Path, newest_schema: int) -> int:
    try:
        connection = open_reader(str(file))
        try:
            complaint, version = examine(connection)
        finally:
            connection.close()
    except (apsw.CorruptError, apsw.NotADBError):
        raise Damaged(f"{file} is damaged: SQLite cannot read it") from None
    except NoStore as error:
        raise Incomplete(f"{file}: {error}") from None
    if complaint is not None:
        raise Damaged(f"{file} is damaged: {complaint}")
    if version > newest_schema:
        raise TooNew(f"the backup has schema {version}, this Peerline knows {newest_schema}: install the newer one")
    return version


def _manifest(folder: Path) -> dict[str, Any]:
    path = folder / MANIFEST
    try:
        manifest = json.loads(path.read_bytes())
        stores = manifest["stores"]
        whole = (
            manifest["schema"] == SCHEMA
            and manifest["complete"] is True
            and isinstance(manifest["createdAt"], str)
            and len(stores) == 1
            and all(isinstance(stores[0][name], str) for name in ("backupFile", "sha256"))
            and type(stores[0]["bytes"]) is int
        )
    except FileNotFoundError:
        raise Incomplete(f"{path} is missing: this is no backup, or not all of one") from None
    except (OSError, ValueError, KeyError, TypeError, IndexError):
        whole = False
    if not whole:
        raise Incomplete(f"{path} is not the manifest of a complete backup")
    found: dict[str, Any] = manifest
    return found


def restore(backup: Verified, target: Path, now: datetime, *, replace: bool) -> Path | None:
    """Put the backup in the place of `target`; returns where the replaced file is kept, if there was one.

    Kept with its write-ahead log, under a name by which it can be opened again. A kill in between leaves
    `<target>.restoring`: no hub starts until the restore was done again.

    Raises:
        WouldReplace; Held: a hub runs on the file; Incomplete: the copy is not what was verified; OSError: the disk.
    """
    exists = target.exists() and target.stat().st_size > 0
    if exists and not replace:
        raise WouldReplace(f"there is a store at {target}")
    target.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
    lock = FileLock(target)
    try:
        draft, new = Path(f"{target}.restoring.part"), Path(f"{target}{UNFINISHED}")
        draft.unlink(missing_ok=True)
        _copy(backup, draft)
        draft.rename(new)  # from here on a hub refuses to start
        sync(target.parent)
        aside = _set_aside(target, f"{target}.replaced-{now:%Y%m%dT%H%M%S}Z") if exists else None
        for side in SIDES:
            Path(f"{target}{side}").unlink(missing_ok=True)
        new.replace(target)
        sync(target.parent)
    finally:
        lock.release()
    return aside


def _copy(backup: Verified, draft: Path) -> None:
    with backup.file.open("rb") as source:
        flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
        with os.fdopen(os.open(draft, flags, 0o600), "wb") as copy:
            shutil.copyfileobj(source, copy, 1 << 20)
            copy.flush()
            os.fsync(copy.fileno())
    if sha256(draft) != backup.sha256:
        draft.unlink()
        raise Incomplete(f"{backup.file} changed while it was copied")


def _set_aside(target: Path, aside: str) -> Path:
    place, number = Path(aside), 1
    while place.exists():
        number += 1
        place = Path(f"{aside}-{number}")
    for side in ("-wal", "-journal"):
        if Path(f"{target}{side}").exists():
            Path(f"{target}{side}").rename(f"{place}{side}")
    target.rename(place)
    return place


def newest_good(folder: Path, newest_schema: int) -> tuple[Verified | None, list[str]]:
    """The newest backup below `folder` that verifies, and why newer ones do not."""
    why: list[str] = []
    for one in sorted(folder.glob("backup-*"), reverse=True) if folder.is_dir() else ():
        try:
            return verify(one, newest_schema), why
        except (Incomplete, Damaged, TooNew) as error:
            why.append(str(error))
    return None, why
