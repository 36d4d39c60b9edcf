"""Posts that the remote has not got yet. The row is the promise: a post's id is fixed in it, and it stays until the
remote's branch holds the post."""

from typing import NamedTuple

from peerline.core.ids import Millis
from peerline.database.sql import Sql


class Outgoing(NamedTuple):
    seq: int
    room: str
    id: str
    kind: str
    path: str
    data: bytes
    queued_at: Millis
    tries: int
    reason: str | None


class OutboxTable:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def add(self, seq: int, room: str, now: Millis) -> None:
        self._sql.run(
            "INSERT INTO outbox (seq, room, state, queued_at) VALUES (:seq, :room, 'queued', :now)",
            seq=seq,
            room=room,
            now=now,
        )

    def queued(self, limit: int = 1_000) -> list[Outgoing]:
        """In the order in which they were written."""
        rows = self._sql.rows(
            "SELECT o.seq, o.room, p.id, p.kind, p.path, p.data, o.queued_at, o.tries, o.reason"
            " FROM outbox o JOIN post p ON p.seq = o.seq WHERE o.state = 'queued' ORDER BY o.seq LIMIT :limit",
            limit=limit,
        )
        return [Outgoing(*row) for row in rows]

    def count(self) -> int:
        row = self._sql.row("SELECT count(*) FROM outbox WHERE state = 'queued'")
        return row[0] if row else 0

    def is_queued(self, seq: int) -> bool:
        return self._sql.row("SELECT 1 FROM outbox WHERE seq = :seq AND state = 'queued'", seq=seq) is not None

    def is_ours(self, seq: int) -> bool:
        """It was written here, whatever became of it."""
        return self._sql.row("SELECT 1 FROM outbox WHERE seq = :seq", seq=seq) is not None

    def reason(self, seq: int) -> str | None:
        row = self._sql.row("SELECT reason FROM outbox WHERE seq = :seq AND state = 'queued'", seq=seq)
        return row[0] if row else None

    def sent(self, seq: int, now: Millis) -> None:
        """The remote has it. Said twice, the first time counts."""
        self._sql.run(
            "UPDATE outbox SET state = 'sent', sent_at = :now, reason = NULL WHERE seq = :seq AND state = 'queued'",
            seq=seq,
            now=now,
        )

    def remove(self, seq: int) -> None:
        """It was never to go out."""
        self._sql.run("DELETE FROM outbox WHERE seq = :seq AND state = 'queued'", seq=seq)

    def tried(self, seq: int, reason: str) -> None:
        self._sql.run(
            "UPDATE outbox SET tries = tries + 1, reason = :reason WHERE seq = :seq AND state = 'queued'",
            seq=seq,
            reason=reason,
        )

    def requeue(self, seq: int, reason: str) -> bool:
        """The remote has lost it: let it wait again, once in its life. False: it was never ours, or already had."""
        return bool(
            self._sql.run(
                "UPDATE outbox SET state = 'queued', requeued = 1, tries = 0, reason = :reason"
                " WHERE seq = :seq AND state = 'sent' AND requeued = 0",
                seq=seq,
                reason=reason,
            )
        )
