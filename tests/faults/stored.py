"""The store's own tables as the checker compares them, and whether the file is sound."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import apsw

from .history import Record

ROWS = """
    SELECT m.id, m.sender, m.recipient, b.text, m.idempotency_key, m.status, r.text, m.expires_at
    FROM message m LEFT JOIN body b ON b.message = m.number LEFT JOIN reply r ON r.message = m.number
"""
# Each finds what a torn commit would leave; the first column says what.
TORN = (
    "SELECT 'message without a body: ' || id FROM message WHERE number NOT IN (SELECT message FROM body)",
    "SELECT 'body without a message: ' || message FROM body WHERE message NOT IN (SELECT number FROM message)",
    "SELECT 'reply without a message: ' || message FROM reply WHERE message NOT IN (SELECT number FROM message)",
    """SELECT 'final without a time, or a time without final: ' || id FROM message
       WHERE (final_at IS NULL) <> (status IN ('queued', 'delivered'))""",
    "SELECT 'listed without a message: ' || message FROM sent WHERE message NOT IN (SELECT number FROM message)",
    "SELECT 'event without a message: ' || message FROM event WHERE message NOT IN (SELECT number FROM message)",
    """SELECT 'not in its sender''s list: ' || id FROM message m
       WHERE number <= (SELECT value FROM mark WHERE name = 'sent')
       AND NOT EXISTS (SELECT 1 FROM sent s WHERE s.sender = m.sender AND s.message = m.number)""",
    """SELECT 'outcome in no list: ' || id FROM message m
       WHERE ended <= (SELECT value FROM mark WHERE name = 'ended') AND sender_event IS NOT NULL
       AND NOT EXISTS (SELECT 1 FROM event e WHERE e.agent = m.sender AND e.number = m.sender_event)""",
    "SELECT 'one number twice: ' || recipient FROM message GROUP BY recipient, seq HAVING count(*) > 1",
)


def copied(data: Path, folder: Path) -> Path:
    """The file and its log as they lie there: the original stays for the hub to recover by itself."""
    folder.mkdir(parents=True, exist_ok=True)
    target = folder / "copy.db"
    for side in ("", "-wal"):
        Path(f"{target}{side}").unlink(missing_ok=True)
        if Path(f"{data}{side}").exists():
            shutil.copyfile(f"{data}{side}", f"{target}{side}")
    Path(f"{target}-shm").unlink(missing_ok=True)
    return target


def unsound(data: Path) -> list[str]:
    """What `integrity_check`, `foreign_key_check` and our own rules find wrong; empty when all is well."""
    connection = apsw.Connection(str(data))
    try:
        wrong = [str(row[0]) for row in connection.execute("PRAGMA integrity_check") if row[0] != "ok"]
        wrong += [f"foreign key: {row}" for row in connection.execute("PRAGMA foreign_key_check")]
        if not connection.execute("SELECT count(*) FROM sqlite_schema WHERE name = 'message'").fetchall()[0][0]:
            wrong.append("the tables are gone")
        else:
            wrong += [str(row[0]) for statement in TORN for row in connection.execute(statement)]
        return wrong
    except apsw.Error as error:
        return [repr(error)]
    finally:
        connection.close()


def rows(data: Path) -> list[Record]:
    connection = apsw.Connection(str(data))
    try:
        return list(_records(connection))
    finally:
        connection.close()


def _records(connection: apsw.Connection) -> Iterator[Record]:
    for id_, sender, recipient, content, key, status, reply, expires_ms in connection.execute(ROWS):
        yield Record(
            id=id_,
            sender=sender,
            recipient=recipient,
            content=content or "",
            key=key,
            status=status,
            reply=reply,
            expires_ms=expires_ms,
        )
