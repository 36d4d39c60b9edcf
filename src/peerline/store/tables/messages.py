"""Messages: their narrow rows, their bodies, and the counters that stand in the same commit."""

from collections.abc import Callable, Sequence
from typing import Any

from peerline.core.errors import MessageNotFound
from peerline.core.ids import AgentId, MessageId, Millis
from peerline.core.message import FIELDS, Message, Status
from peerline.database.sql import Sql
from peerline.store.recent import Recent

_COLUMNS = """
    SELECT m.number, m.id, m.project, m.sender, m.sender_name, m.recipient, m.recipient_name, b.text, m.delivery,
        m.hops, m.max_hops, m.seq, m.correlation_id, m.reply_to, m.idempotency_key, m.sent_at, m.expires_at,
        m.delivered_at, m.replied_at, m.cancelled_at, m.status, r.text, m.sender_event, m.recipient_event,
        m.path, m.held_at, m.needs
"""
_TEXTS = " JOIN body b ON b.message = m.number LEFT JOIN reply r ON r.message = m.number WHERE "
_SELECT = f"{_COLUMNS} FROM message m{_TEXTS}"
_OPEN = "m.recipient = :agent AND m.final_at IS NULL"
GET = _SELECT + "m.id = :id"
BY_KEY = _SELECT + "m.sender = :sender AND m.idempotency_key = :key"
_LET_GO = " AND m.held_at IS NULL AND m.seq > :after ORDER BY m.seq LIMIT :most"
OPEN_FOR = _SELECT + _OPEN + _LET_GO
QUEUED_FOR = _SELECT + _OPEN + " AND m.status = 'queued'" + _LET_GO
DUE_FOR = _SELECT + _OPEN + " AND m.expires_at <= :now"
_FROM = f"{_COLUMNS} FROM sent s JOIN message m ON m.number = s.message{_TEXTS}s.sender = :agent"
_NEWEST_FIRST = " ORDER BY s.message DESC LIMIT :most"
OPEN_IN = _SELECT + "m.project = :project AND m.final_at IS NULL ORDER BY m.number DESC LIMIT :most"
OPEN_FROM = _FROM + " AND m.final_at IS NULL" + _NEWEST_FIRST
_UNTAKEN = " AND m.delivered_at IS NULL AND m.status IN ('queued', 'expired')"
UNDELIVERED_FROM = _FROM + _UNTAKEN + _NEWEST_FIRST
FINAL_FROM = _FROM + " AND m.final_at IS NOT NULL" + _NEWEST_FIRST
SENT = _FROM + _NEWEST_FIRST
# A reply that was only pushed may have reached nobody who reads. Looked for among an agent's last thousand.
_LATELY = " AND s.message IN (SELECT message FROM sent WHERE sender = :agent ORDER BY message DESC LIMIT 1000)"
_UNREAD = """ AND m.status = 'replied' AND NOT EXISTS (SELECT 1 FROM trail t WHERE t.message = m.number
    AND t.observer = :agent AND t.fact IN ('outcome read', 'read'))"""
UNREAD_FROM = _FROM + _LATELY + _UNREAD + _NEWEST_FIRST
DUE = _SELECT + "m.final_at IS NULL AND m.expires_at <= :now ORDER BY m.expires_at LIMIT :most"
_OWN = f"{_COLUMNS} FROM event e JOIN message m ON m.number = e.message{_TEXTS}"
_AFTER = "e.agent = :agent AND e.number > :after ORDER BY e.number LIMIT :most"
OWN = _OWN + _AFTER
# What an agent has got is a watermark in its row, and beyond it the facts of its own readings.
_NOT_GOT = """NOT EXISTS (SELECT 1 FROM trail t WHERE t.message = m.number AND t.observer = :agent
    AND t.fact IN ('outcome pushed', 'outcome read')) AND """
OWED = _OWN + _NOT_GOT + _AFTER
# Sorted by agent, so read from lists that may be a moment behind.
BY_AGENT = frozenset((OPEN_FROM, UNDELIVERED_FROM, FINAL_FROM, SENT, UNREAD_FROM, OWN, OWED))

# The hot ones have numbered parameters: finding 19 names would cost as much as the row. A whole message is the values
# of its own row; what stands elsewhere, or cannot be there yet, is left out.
_AT = {name: number for number, name in enumerate(FIELDS, 1)}
_STATUS = FIELDS.index("status")
_LATER = ("body", "reply", "delivered_at", "replied_at", "cancelled_at", "sender_event", "recipient_event")
_NEW = [name for name in FIELDS if name not in _LATER]
# Short: to find a prepared statement its whole text is hashed.
INSERT = f"INSERT INTO message({','.join(_NEW)})VALUES({','.join(f'?{_AT[name]}' for name in _NEW)})"
INSERT_BODY = "INSERT INTO body (message, text) VALUES (?1, ?2)"
INSERT_REPLY = "INSERT INTO reply (message, text) VALUES (?1, ?2)"
DELIVERED = "UPDATE message SET status = 'delivered', delivered_at = ?2 WHERE number = ?1"
FINAL = (
    "UPDATE message SET status=?2,replied_at=?3,cancelled_at=?4,final_at=?5,sender_event=?6,recipient_event=?7,ended=?8"
    " WHERE number=?1"
)
PURGEABLE = (
    "SELECT number, sender, sender_event, recipient, recipient_event FROM message "
    "WHERE final_at IS NOT NULL AND final_at <= :before ORDER BY final_at LIMIT :most"
)
PURGE = tuple(
    f"DELETE FROM {table} WHERE {column} = :number"  # noqa: S608 - names are ours
    for table, column in (
        ("message", "number"),
        ("body", "message"),
        ("reply", "message"),
        ("trail", "message"),
        ("note", "message"),
    )
)
PURGE_SENT = "DELETE FROM sent WHERE sender = :sender AND message = :number"
PURGE_EVENT = "DELETE FROM event WHERE agent = :agent AND number = :number"
COUNT_OPEN_IN = "SELECT count(*) FROM message WHERE project = :project AND final_at IS NULL"
COUNT = "SELECT count(*) FROM message"
OLDEST_PENDING = "SELECT min(sent_at), count(*) FROM message WHERE final_at IS NULL AND status = 'queued'"
# Written out so that the partial index is used: a request is held only while it is queued.
_HELD = "m.held_at IS NOT NULL AND m.final_at IS NULL AND m.expires_at > :now"
_BETWEEN = " AND m.sender IN (:one, :other) AND m.recipient IN (:one, :other)"
HELD_BETWEEN = _SELECT + _HELD + _BETWEEN + " ORDER BY m.number"
COUNT_HELD = f"SELECT count(*) FROM message m WHERE {_HELD}{_BETWEEN}"  # noqa: S608 - the text is ours
HELD = f"""
    SELECT m.project, m.sender, m.recipient, count(*), min(m.held_at) FROM message m WHERE {_HELD}
    GROUP BY m.project, m.sender, m.recipient
"""  # noqa: S608 - the text is ours
LET_GO = "UPDATE message SET held_at = NULL, seq = ?2 WHERE number = ?1"
OWES = """
    SELECT recipient, sender, status, count(*), min(sent_at) FROM message
    WHERE project = :project AND final_at IS NULL GROUP BY recipient, sender, status
"""


def _message(row: Sequence[Any]) -> Message:
    """The row as a message; compiled, a status has to be one, not only its text."""
    values = list(row)
    values[_STATUS] = Status(values[_STATUS])
    return Message(*values)


class MessageTable:
    def __init__(self, sql: Sql, recent: Recent | None = None, take_in: Callable[[], None] = lambda: None) -> None:
        """Whoever gives `recent` has it cleared when a transaction is undone, and is the only one who writes.

        `take_in` brings the lists by agent up to date."""
        self._sql, self._take_in = sql, take_in
        self._recent = Recent(0) if recent is None else recent

    def get(self, message_id: MessageId) -> Message:
        """Raises: MessageNotFound: never stored, or purged after retention."""
        known = self._recent.get(message_id)
        if known is not None:
            return known
        row = self._sql.row(GET, id=message_id)
        if row is None:
            raise MessageNotFound("message not found")
        return _message(row)

    def by_key(self, sender: AgentId, key: str) -> Message | None:
        row = self._sql.row(BY_KEY, sender=sender, key=key)
        return None if row is None else _message(row)

    def add(self, message: Message) -> None:
        """Store a new message, whose numbers come from the counters."""
        self._sql.put(INSERT, message.values())
        self._sql.put(INSERT_BODY, (message.number, message.body))
        self._recent.keep(message)

    def save_delivered(self, message: Message) -> None:
        self._sql.put(DELIVERED, (message.number, message.delivered_at))
        self._recent.keep(message)

    def save_final(self, message: Message, ended: int) -> None:
        """Store a message that has become final, as the `ended`th, with the numbers of that event for those who are to
        be told."""
        self._recent.drop(message.id)
        self._sql.put(
            FINAL,
            (
                message.number,
                message.status,
                message.replied_at,
                message.cancelled_at,
                message.final_at,
                message.sender_event,
                message.recipient_event,
                ended,
            ),
        )
        if message.reply is not None:
            self._sql.put(INSERT_REPLY, (message.number, message.reply))

    def list(self, statement: str, **values: Any) -> list[Message]:
        """The messages that one of this module's statements selects."""
        if statement in BY_AGENT:
            self._take_in()
        return [_message(row) for row in self._sql.rows(statement, **values)]

    def purge(self, before: Millis, most: int) -> int:
        """Delete messages that were final at `before` or earlier, `most` at a time; returns how many."""
        self._take_in()  # what is not in the lists yet would come into them after it has gone
        found = self._sql.rows(PURGEABLE, before=before, most=most)
        for number, sender, sender_event, recipient, recipient_event in found:
            for statement in PURGE:
                self._sql.run(statement, number=number)
            self._sql.run(PURGE_SENT, sender=sender, number=number)
            for agent, event in ((sender, sender_event), (recipient, recipient_event)):
                if event is not None:
                    self._sql.run(PURGE_EVENT, agent=agent, number=event)
        return len(found)

    def open_in(self, project: str) -> int:
        row = self._sql.row(COUNT_OPEN_IN, project=project)
        return int(row[0]) if row else 0

    def count(self) -> int:
        row = self._sql.row(COUNT)
        return int(row[0]) if row else 0

    def oldest_pending(self) -> tuple[Millis | None, int]:
        """When the oldest queued message was sent, and how many are queued."""
        row = self._sql.row(OLDEST_PENDING)
        return (row[0], row[1]) if row else (None, 0)

    def held_between(self, one: AgentId, other: AgentId, now: Millis) -> int:
        """How many requests of these two, in either direction, are held."""
        row = self._sql.row(COUNT_HELD, one=one, other=other, now=now)
        return int(row[0]) if row else 0

    def held(self, now: Millis) -> Sequence[tuple[str, AgentId, AgentId, int, Millis]]:
        """(project, sender, recipient, how many, since) of all that is held."""
        return self._sql.rows(HELD, now=now)

    def let_go(self, message: Message) -> None:
        """Store that a held message was released, with the number it got then."""
        self._sql.put(LET_GO, (message.number, message.seq))
        self._recent.keep(message)

    def owes(self, project: str) -> Sequence[tuple[str, str, str, int, Millis]]:
        """(recipient, sender, status, how many, since) of the project's open messages."""
        return self._sql.rows(OWES, project=project)
