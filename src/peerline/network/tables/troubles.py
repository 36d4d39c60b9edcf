"""What was found wrong in the repository: unreadable files, changed or deleted posts, rewritten rooms."""

from typing import NamedTuple

from peerline.core.ids import Millis
from peerline.database.sql import Sql


class Trouble(NamedTuple):
    """`kind`: unreadable, unsupported, modified, deleted, duplicate, link, too-large, rewritten, gone."""

    at: Millis
    room: str
    kind: str
    path: str
    detail: str


class TroubleTable:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def add(self, trouble: Trouble) -> bool:
        """False when it is known already."""
        return bool(
            self._sql.run(
                "INSERT OR IGNORE INTO trouble (at, room, kind, path, detail)"
                " VALUES (:at, :room, :kind, :path, :detail)",
                at=trouble.at,
                room=trouble.room,
                kind=trouble.kind,
                path=trouble.path,
                detail=trouble.detail,
            )
        )

    def newest(self, limit: int) -> list[Trouble]:
        rows = self._sql.rows(
            "SELECT at, room, kind, path, detail FROM trouble ORDER BY number DESC LIMIT :limit", limit=limit
        )
        return [Trouble(*row) for row in rows]
