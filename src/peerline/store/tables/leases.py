"""Leases on named things, by project."""

from peerline.core.ids import Millis
from peerline.core.lease import Lease
from peerline.database.sql import Sql

GET = """
    SELECT project, name, holder, holder_name, fencing_token, acquired_at, expires_at FROM lease
    WHERE project = :project AND name = :name
"""
LIVE = """
    SELECT project, name, holder, holder_name, fencing_token, acquired_at, expires_at FROM lease
    WHERE project = :project AND expires_at > :now ORDER BY name LIMIT :most
"""
SAVE = """
    INSERT INTO lease (project, name, holder, holder_name, fencing_token, acquired_at, expires_at)
    VALUES (:project, :name, :holder, :holder_name, :fencing_token, :acquired_at, :expires_at)
    ON CONFLICT (project, name) DO UPDATE SET holder = excluded.holder, holder_name = excluded.holder_name,
        fencing_token = excluded.fencing_token, acquired_at = excluded.acquired_at, expires_at = excluded.expires_at
"""
DELETE = "DELETE FROM lease WHERE project = :project AND name = :name"
PURGE = "DELETE FROM lease WHERE expires_at <= :before"


class LeaseTable:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def by_name(self, project: str, name: str) -> Lease | None:
        row = self._sql.row(GET, project=project, name=name)
        return None if row is None else Lease._make(row)

    def live(self, project: str, now: Millis, most: int) -> list[Lease]:
        """The project's leases that still run, by name."""
        return list(map(Lease._make, self._sql.rows(LIVE, project=project, now=now, most=most)))

    def save(self, lease: Lease) -> None:
        self._sql.run(SAVE, **lease._asdict())

    def delete(self, lease: Lease) -> None:
        self._sql.run(DELETE, project=lease.project, name=lease.name)

    def purge(self, before: Millis) -> int:
        """Forget leases that ended at `before` or earlier: kept that long so that fencing tokens do not start anew."""
        return self._sql.run(PURGE, before=before)
