"""The inbox: what was addressed to this agent, each item with a state of its own.

pending ──drained by this agent──> drained
   └──answered, by anyone (a person, where a person was asked)──> resolved
"""

from typing import Any, Final, NamedTuple

from peerline.core.ids import Millis
from peerline.core.post import Post, Priority
from peerline.database.sql import Sql

URGENCY: Final = {Priority.BLOCKING: 0, Priority.HIGH: 1, Priority.NORMAL: 2, Priority.LOW: 3}


class Item(NamedTuple):
    seq: int
    room: str
    id: str
    needs: str
    thread: str
    state: str
    changed_at: Millis | None


_SELECT: Final = "SELECT seq, room, id, needs, thread, state, changed_at FROM item "


class ItemTable:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def add(self, seq: int, post: Post) -> None:
        self._sql.put(
            "INSERT OR IGNORE INTO item (seq, room, id, urgency, ts, needs, thread, state)"
            " VALUES (:seq, :room, :id, :urgency, :ts, :needs, :thread, 'pending')",
            {
                "seq": seq,
                "room": post.room,
                "id": post.id,
                "urgency": URGENCY[post.priority],
                "ts": post.ts,
                "needs": str(post.needs),
                "thread": post.thread,
            },
        )

    def pending(self, room: str | None = None, needs: str | None = None, thread: str | None = None) -> list[Item]:
        """The most urgent first, then by the senders' times, then by arrival."""
        rows = self._sql.rows(
            _SELECT + "WHERE state = 'pending' AND (:room IS NULL OR room = :room)"
            " AND (:needs IS NULL OR needs = :needs) AND (:thread IS NULL OR thread = :thread)"
            " ORDER BY urgency, ts, seq",
            room=room,
            needs=needs,
            thread=thread,
        )
        return [Item(*row) for row in rows]

    def after(self, seq: int) -> list[Item]:
        """Pending ones that came later, in the order of arrival."""
        rows = self._sql.rows(_SELECT + "WHERE state = 'pending' AND seq > :seq ORDER BY seq", seq=seq)
        return [Item(*row) for row in rows]

    def by_id(self, id: str) -> list[Item]:
        return [Item(*row) for row in self._sql.rows(_SELECT + "WHERE id = :id ORDER BY seq", id=id)]

    def count(self) -> dict[tuple[str, str], int]:
        """Pending ones by room and need."""
        rows = self._sql.rows("SELECT room, needs, count(*) FROM item WHERE state = 'pending' GROUP BY room, needs")
        return {(room, needs): count for room, needs, count in rows}

    def drain(self, seq: int, now: Millis) -> bool:
        """False: it is not pending any more, or waits for a person."""
        return bool(
            self._sql.run(
                "UPDATE item SET state = 'drained', changed_at = :now"
                " WHERE seq = :seq AND state = 'pending' AND needs <> 'human'",
                seq=seq,
                now=now,
            )
        )

    def resolve(self, id: str, *, by_person: bool, now: Millis) -> int:
        """It was answered; what asked for a person is resolved by a person only."""
        return self._sql.run(
            "UPDATE item SET state = 'resolved', changed_at = :now"
            " WHERE id = :id AND state = 'pending' AND (needs <> 'human' OR :person)",
            id=id,
            now=now,
            person=int(by_person),
        )

    def forget(self, seq: int, now: Millis) -> None:
        """It was sealed away before this agent was there."""
        self._sql.run(
            "UPDATE item SET state = 'resolved', changed_at = :now WHERE seq = :seq AND state = 'pending'",
            seq=seq,
            now=now,
        )

    def by_seq(self, seq: int) -> Item:
        return Item(*self._sql.rows(_SELECT + "WHERE seq = :seq", seq=seq)[0])

    def show(self, ids: list[tuple[str, str]]) -> None:
        """Rooms and ids that were listed to this agent; that is what its receipt says."""
        self._sql.run_many("UPDATE item SET shown = 1 WHERE room = ? AND id = ? AND shown = 0", ids)

    def are_shown(self, ids: list[tuple[str, str]]) -> bool:
        """Whether all of them were listed before."""
        found = "SELECT 1 FROM item WHERE room = :room AND id = :id AND shown = 0"
        return all(self._sql.row(found, room=room, id=id) is None for room, id in ids)

    def read_through(self, room: str) -> tuple[str, int] | None:
        """The highest id that was ever listed in the room, and how many items of it are not above that."""
        row = self._sql.row("SELECT max(id) FROM item WHERE room = :room AND shown = 1", room=room)
        if row is None or row[0] is None:
            return None
        count: tuple[Any, ...] | None = self._sql.row(
            "SELECT count(*) FROM item WHERE room = :room AND id <= :id", room=room, id=row[0]
        )
        return row[0], count[0] if count else 0
