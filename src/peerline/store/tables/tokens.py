"""Project tokens: digests, never the token itself."""

from peerline.core.access import ProjectToken
from peerline.core.ids import Millis
from peerline.database.sql import Sql

ALL = "SELECT id, project, digest, label, listed, created_at, expires_at, revoked_at, scope FROM project_token"
ADD = """
    INSERT INTO project_token (id, project, digest, label, listed, created_at, expires_at, revoked_at, scope)
    VALUES (:id, :project, :digest, :label, :listed, :created_at, :expires_at, :revoked_at, :scope)
"""
END = "UPDATE project_token SET expires_at = :expires_at, revoked_at = :revoked_at WHERE id = :id"


class TokenTable:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def all(self) -> list[ProjectToken]:
        return [
            ProjectToken(row[0], row[1], bytes(row[2]), row[3], bool(row[4]), *row[5:]) for row in self._sql.rows(ALL)
        ]

    def add(self, token: ProjectToken) -> None:
        self._sql.run(ADD, **{**token._asdict(), "listed": int(token.listed)})

    def end(self, token_id: str, expires_at: Millis | None, revoked_at: Millis | None) -> None:
        self._sql.run(END, id=token_id, expires_at=expires_at, revoked_at=revoked_at)
