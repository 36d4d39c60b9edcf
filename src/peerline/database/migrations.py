"""Forward migrations: each step in one transaction, a copy of the file before the first one of a start."""

from collections.abc import Callable, Sequence
from itertools import count
from pathlib import Path
from typing import NamedTuple

import apsw


class Migration(NamedTuple):
    """`statements` bring a file of version `version - 1` to `version`; versions count from 1 without gaps."""

    version: int
    statements: Sequence[str]


class TooNew(Exception):
    """The file was written by a newer Peerline."""

    code = "runtime_schema_newer"


def migrate(
    connection: apsw.Connection,
    migrations: Sequence[Migration],
    path: Path | None = None,
    probe: Callable[[str], None] | None = None,
) -> list[int]:
    """Bring the file up to date; returns the versions that ran. A kill in between leaves the last finished version.

    Before the first step on a file that already has a version, it is copied to `<file>.before-<new version>`; an older
    copy of that name gets a number behind it.

    Raises:
        TooNew: nothing is changed then.
    """
    version: int = connection.pragma("user_version")
    newest = migrations[-1].version
    if version > newest:
        raise TooNew(f"the store has schema {version}, this Peerline knows {newest}: install the newer Peerline")
    due = [m for m in migrations if m.version > version]
    if due and version > 0 and path is not None:
        _copy(connection, path, newest)
    for migration in due:
        connection.execute("BEGIN IMMEDIATE")
        try:
            for statement in migration.statements:
                connection.execute(statement).fetchall()
                if probe:
                    probe("migrating")
            connection.pragma("user_version", migration.version)
            connection.execute("COMMIT")
        except BaseException:
            if connection.in_transaction:
                connection.execute("ROLLBACK")
            raise
    return [m.version for m in due]


def _copy(connection: apsw.Connection, path: Path, newest: int) -> None:
    from peerline.database.files import sync  # here: it loads hashlib, which a short command has no use for

    target = Path(f"{path}.before-{newest}")
    part = Path(f"{target}.part")
    part.unlink(missing_ok=True)
    connection.execute("VACUUM INTO :target", {"target": str(part)}).fetchall()
    part.chmod(0o600)
    sync(part)  # SQLite leaves that to us here
    if target.exists():
        number = next(n for n in count(1) if not Path(f"{target}.{n}").exists())
        target.rename(f"{target}.{number}")
    part.rename(target)
    sync(target.parent)
