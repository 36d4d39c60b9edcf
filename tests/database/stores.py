"""Stores with something in them, for tests of what handles the file."""

from pathlib import Path

import apsw

from peerline.database.connection import open_writer
from peerline.database.migrations import migrate
from peerline.store.migrations import MIGRATIONS

# What people do send: nothing but a line's end, other scripts, 32,000 characters, what looks like SQL.
TEXTS = ("\n", "żółw 🐢 \u202e", "x" * 32_000, "'; DROP TABLE body; --", "\u0001\ufeff")


def open_store(path: Path) -> apsw.Connection:
    connection = open_writer(str(path))
    migrate(connection, MIGRATIONS)
    return connection


def add(connection: apsw.Connection, number: int, text: str) -> None:
    """One queued message and its text, in one transaction."""
    connection.execute("BEGIN IMMEDIATE")
    for name in ("from", "to"):
        connection.execute(
            "INSERT OR IGNORE INTO agent (id, project, name, name_key, purpose, connected_at, last_seen_at)"
            " VALUES (?1, 'shop', ?1, ?1, '', 0, 0)",
            (name,),
        )
    connection.execute(
        "INSERT INTO message (number, id, project, sender, sender_name, recipient, recipient_name, delivery, hops,"
        " max_hops, seq, sent_at, expires_at, status)"
        " VALUES (?1, 'msg_' || ?1, 'shop', 'from', 'from', 'to', 'to', 'followUp', 0, 5, ?1, 0, 1, 'queued')",
        (number,),
    )
    connection.execute("INSERT INTO body VALUES (?, ?)", (number, text))
    connection.execute("COMMIT")


def texts(path: Path) -> list[str]:
    connection = apsw.Connection(str(path))
    try:
        return [str(row[0]) for row in connection.execute("SELECT text FROM body ORDER BY message")]
    finally:
        connection.close()


def store_with_texts(path: Path) -> Path:
    connection = open_store(path)
    for number, text in enumerate(TEXTS, 1):
        add(connection, number, text)
    connection.close()
    return path


def damage(path: Path) -> None:
    """Overwrite pages in the middle, as a failing disk does."""
    with path.open("r+b") as file:
        file.seek(3 * 4096)
        file.write(b"\0" * 6 * 4096)
