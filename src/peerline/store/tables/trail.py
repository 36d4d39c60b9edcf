"""Observed facts beside each message, and the recipient's progress notes."""

from collections.abc import Iterable
from typing import NamedTuple

from peerline.core.ids import Millis
from peerline.core.trail import Fact
from peerline.database.sql import Sql

ADD = "INSERT OR IGNORE INTO trail (message, at, fact, observer, detail) VALUES (?, ?, ?, ?, ?)"
OF = "SELECT at, fact, observer, detail FROM trail WHERE message = :message ORDER BY at"
ADD_NOTE = "INSERT INTO note (message, number, at, text) VALUES (:message, :number, :at, :text)"
NOTES = "SELECT number, at, text FROM note WHERE message = :message ORDER BY number"


class Note(NamedTuple):
    number: int
    at: Millis
    text: str


class TrailTable:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def add(self, facts: Iterable[tuple[int, Millis, str, str, str | None]]) -> None:
        """Record facts (message number, time, fact, observer, detail); the same fact twice is nothing new."""
        self._sql.run_many(ADD, facts)

    def of(self, message: int) -> list[Fact]:
        return list(map(Fact._make, self._sql.rows(OF, message=message)))

    def add_note(self, message: int, note: Note) -> None:
        self._sql.run(ADD_NOTE, message=message, **note._asdict())

    def notes(self, message: int) -> list[Note]:
        return list(map(Note._make, self._sql.rows(NOTES, message=message)))
