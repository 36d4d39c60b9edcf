"""The store on the disk: looked at through a connection that cannot change it, whether a hub runs on it or not."""

import time
from collections.abc import Iterator
from pathlib import Path
from typing import Final

import apsw

from peerline.cli.doctor.finding import Finding, Level, fail, ok, warn
from peerline.database.backup import NoStore
from peerline.database.connection import UNFINISHED, open_reader
from peerline.store.check import Condition, condition
from peerline.store.migrations import MIGRATIONS

LOG_LARGE: Final = 60 * 1024 * 1024
REPAIR: Final = "kxm hub stop; kxm doctor --repair"
SKEW_MS: Final = 120_000
NEWEST: Final = "SELECT max(sent_at) FROM message"


def store(path: Path, backups: Path) -> Iterator[Finding]:
    if Path(f"{path}{UNFINISHED}").exists():
        yield fail("store", f"a restore of {path} was interrupted", "kxm restore DIR --force")
        return
    if not path.exists() or path.stat().st_size == 0:
        yield ok("store", f"there is none at {path} yet; the hub makes it when it starts")
        return
    yield integrity(path)
    yield log(path)
    yield clock(path)
    yield kept(backups)


def integrity(path: Path) -> Finding:
    """The whole file, and whether its tables agree."""
    try:
        found = look(path)
    except NoStore as error:
        return fail("store", f"{path}: {error}", "KXM_DATA_PATH=/another/kxm.db kxm hub start")
    except apsw.Error as error:
        return fail("store", f"{path} cannot be read: {error}", f"ls -l {path}*")
    newest = MIGRATIONS[-1].version
    if found.complaints:
        more = f", and {len(found.complaints) - 1} more" if len(found.complaints) > 1 else ""
        return fail("store", f"{path} is damaged: {found.complaints[0]}{more}", REPAIR)
    if found.schema_version > newest:
        detail = f"{path} has schema {found.schema_version}, this Peerline knows {newest}"
        return fail("store", detail, "install the newer Peerline")
    counts = ", ".join(f"{found.counts[name]:,} {name}s" for name in ("message", "agent", "session"))
    return ok("store", f"{path} is sound: {counts}; schema {found.schema_version}")


def look(path: Path) -> Condition:
    connection = open_reader(str(path))
    try:
        return condition(connection)
    finally:
        connection.close()


def damaged(finding: Finding) -> bool:
    return finding.check == "store" and finding.level is Level.FAIL and finding.fix == REPAIR


def log(path: Path) -> Finding:
    side = Path(f"{path}-wal")
    size = side.stat().st_size if side.exists() else 0
    detail = f"{size // 1024:,} KiB of write-ahead log"
    if size > LOG_LARGE:
        return warn("log", f"{detail}: some program holds an old reading of it open", f"lsof {path}")
    return ok("log", detail)


def clock(path: Path) -> Finding:
    """A clock that was set back makes new requests older than stored ones."""
    now = int(time.time() * 1000)
    try:
        connection = open_reader(str(path))
        try:
            ((newest,),) = connection.execute(NEWEST).fetchall()
        finally:
            connection.close()
    except apsw.Error:
        newest = None
    if isinstance(newest, int) and newest > now + SKEW_MS:
        ahead = (newest - now) // 1000
        return warn(
            "clock", f"the newest request was sent {ahead:,} s in the future: the clock went back", "timedatectl"
        )
    return ok("clock", time.strftime("%Y-%m-%d %H:%M:%S UTC", time.gmtime(now / 1000)))


def kept(backups: Path) -> Finding:
    made = sorted(backups.glob("backup-*")) if backups.is_dir() else []
    if not made:
        return warn("backups", f"there is none in {backups}", "kxm backup")
    return ok("backups", f"{len(made)} in {backups}, the newest {made[-1].name}")
