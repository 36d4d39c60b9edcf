"""Threads that others opened in followed rooms and that are addressed to somebody else: told once."""

from peerline.database.sql import Sql


class StartedTable:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def add(self, seq: int, room: str) -> None:
        self._sql.run("INSERT OR IGNORE INTO started (seq, room) VALUES (:seq, :room)", seq=seq, room=room)

    def newest(self, limit: int) -> list[int]:
        """The numbers of their first posts, the newest first."""
        return [seq for (seq,) in self._sql.rows("SELECT seq FROM started ORDER BY seq DESC LIMIT :n", n=limit)]
