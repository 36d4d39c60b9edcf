"""main's files as last seen (cards, profiles, receipts, rooms, manifest), and our own that wait to be pushed."""

from collections.abc import Mapping
from typing import NamedTuple

from peerline.core.ids import Millis
from peerline.database.sql import Sql


class Record(NamedTuple):
    """A file of our own for main; `subject` is the commit's."""

    path: str
    data: bytes
    subject: str


class FileTable:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def get(self, path: str) -> bytes | None:
        """The file as it will be once what waits is pushed."""
        row = self._sql.row("SELECT data FROM record WHERE path = :path", path=path) or self._sql.row(
            "SELECT data FROM file WHERE path = :path", path=path
        )
        return row[0] if row else None

    def pushed(self, path: str) -> bytes | None:
        """The file as the remote has it."""
        row = self._sql.row("SELECT data FROM file WHERE path = :path", path=path)
        return row[0] if row else None

    def below(self, folder: str) -> Mapping[str, bytes]:
        """All files whose path starts with `folder` (which ends in `/`), by path, ours that wait included."""
        rows = self._sql.rows(
            "SELECT path, data FROM file WHERE path >= :first AND path < :last"
            " UNION ALL SELECT path, data FROM record WHERE path >= :first AND path < :last",
            first=folder,
            last=folder[:-1] + chr(ord("/") + 1),
        )
        return dict(sorted(dict(rows).items()))

    def put(self, path: str, oid: str, data: bytes) -> None:
        self._sql.put(
            "INSERT OR REPLACE INTO file (path, oid, data) VALUES (:path, :oid, :data)",
            {"path": path, "oid": oid, "data": data},
        )

    def remove(self, path: str) -> None:
        self._sql.run("DELETE FROM file WHERE path = :path", path=path)

    def clear(self) -> None:
        self._sql.run("DELETE FROM file")

    def count(self) -> int:
        row = self._sql.row("SELECT count(*) FROM file")
        return row[0] if row else 0

    def queue(self, record: Record, now: Millis) -> bool:
        """Let the file wait for the next push; False when the remote has it so already."""
        if self.pushed(record.path) == record.data:
            self._sql.run("DELETE FROM record WHERE path = :path", path=record.path)
            return False
        self._sql.put(
            "INSERT OR REPLACE INTO record (path, data, subject, queued_at) VALUES (:path, :data, :subject, :now)",
            {"path": record.path, "data": record.data, "subject": record.subject, "now": now},
        )
        return True

    def queued(self) -> list[Record]:
        return [
            Record(*row) for row in self._sql.rows("SELECT path, data, subject FROM record ORDER BY queued_at, path")
        ]

    def sent(self, record: Record) -> None:
        """The remote has this version; a newer one that came meanwhile still waits."""
        self.put(record.path, "", record.data)
        self._sql.run("DELETE FROM record WHERE path = :path AND data = :data", path=record.path, data=record.data)
