"""Messages: their narrow rows, their bodies, and the counters that stand in the same commit."""

from collections.abc import Sequence
from typing import Any

from peerline.core.errors import MessageNotFound, RecipientQueueFull, TargetNotFound
from peerline.core.ids import AgentId, MessageId, Millis
from peerline.core.message import Message
from peerline.database.sql import Sql

_SELECT = """
    SELECT m.number, m.id, m.project, m.sender, m.sender_name, m.recipient, m.recipient_name, b.text, m.delivery,
        m.hops, m.max_hops, m.seq, m.correlation_id, m.reply_to, m.idempotency_key, m.sent_at, m.expires_at,
        m.delivered_at, m.replied_at, m.cancelled_at, m.status, r.text, m.sender_event, m.recipient_event
    FROM message m JOIN body b ON b.message = m.number LEFT JOIN reply r ON r.message = m.number WHERE
"""
_OPEN = "m.recipient = :agent AND m.final_at IS NULL"
GET = _SELECT + "m.id = :id"
BY_KEY = _SELECT + "m.sender = :sender AND m.idempotency_key = :key"
OPEN_FOR = _SELECT + _OPEN + " AND m.seq > :after ORDER BY m.seq LIMIT :most"
QUEUED_FOR = _SELECT + _OPEN + " AND m.status = 'queued' AND m.seq > :after ORDER BY m.seq LIMIT :most"
DUE_FOR = _SELECT + _OPEN + " AND m.expires_at <= :now"
_FROM = _SELECT + "m.sender = :agent"
OPEN_IN = _SELECT + "m.project = :project AND m.final_at IS NULL ORDER BY m.number DESC LIMIT :most"
OPEN_FROM = _FROM + " AND m.final_at IS NULL ORDER BY m.number DESC LIMIT :most"
_UNTAKEN = " AND m.delivered_at IS NULL AND m.status IN ('queued', 'expired')"
UNDELIVERED_FROM = _FROM + _UNTAKEN + " ORDER BY m.number DESC LIMIT :most"
FINAL_FROM = _FROM + " AND m.final_at IS NOT NULL ORDER BY m.number DESC LIMIT :most"
SENT = _FROM + " ORDER BY m.number DESC LIMIT :most"
DUE = _SELECT + "m.final_at IS NULL AND m.expires_at <= :now ORDER BY m.expires_at LIMIT :most"
_TO_SENDER = "m.sender = :agent AND m.sender_event > :after ORDER BY m.sender_event LIMIT :most"
_TO_RECIPIENT = "m.recipient = :agent AND m.recipient_event > :after ORDER BY m.recipient_event LIMIT :most"
TOLD = _SELECT + _TO_SENDER
HEARD = _SELECT + _TO_RECIPIENT
# What an agent has got is a watermark in its row, and beyond it the facts of its own readings.
_NOT_GOT = """NOT EXISTS (SELECT 1 FROM trail t WHERE t.message = m.number AND t.observer = :agent
    AND t.fact IN ('outcome pushed', 'outcome read')) AND """
OWED = _SELECT + _NOT_GOT + _TO_SENDER
OWED_TO = _SELECT + _NOT_GOT + _TO_RECIPIENT

NEXT_SEQ = """
    UPDATE agent SET next_seq = next_seq + 1, open_count = open_count + 1
    WHERE id = :agent AND open_count < :most RETURNING next_seq
"""
INSERT = """
    INSERT INTO message (id, project, sender, sender_name, recipient, recipient_name, delivery, hops, max_hops, seq,
        correlation_id, reply_to, idempotency_key, sent_at, expires_at, status)
    VALUES (:id, :project, :sender, :sender_name, :recipient, :recipient_name, :delivery, :hops, :max_hops, :seq,
        :correlation_id, :reply_to, :idempotency_key, :sent_at, :expires_at, :status)
"""
INSERT_BODY = "INSERT INTO body (message, text) VALUES (:message, :text)"
INSERT_REPLY = "INSERT INTO reply (message, text) VALUES (:message, :text)"
DELIVERED = "UPDATE message SET status = 'delivered', delivered_at = :at WHERE number = :number"
FINAL = """
    UPDATE message SET status = :status, replied_at = :replied_at, cancelled_at = :cancelled_at, final_at = :final_at,
        sender_event = :sender_event, recipient_event = :recipient_event
    WHERE number = :number
"""
NEXT_EVENT = "UPDATE agent SET events = events + 1 WHERE id = :agent RETURNING events"
CLOSED = "UPDATE agent SET open_count = open_count - 1 WHERE id = :agent"
PURGEABLE = (
    "SELECT number FROM message WHERE final_at IS NOT NULL AND final_at <= :before ORDER BY final_at LIMIT :most"
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
COUNT_OPEN_IN = "SELECT count(*) FROM message WHERE project = :project AND final_at IS NULL"
COUNT = "SELECT count(*) FROM message"
OLDEST_PENDING = "SELECT min(sent_at), count(*) FROM message WHERE final_at IS NULL AND status = 'queued'"
OWES = """
    SELECT recipient, sender, status, count(*), min(sent_at) FROM message
    WHERE project = :project AND final_at IS NULL GROUP BY recipient, sender, status
"""


class MessageTable:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def get(self, message_id: MessageId) -> Message:
        """Raises: MessageNotFound: never stored, or purged after retention."""
        row = self._sql.row(GET, id=message_id)
        if row is None:
            raise MessageNotFound("message not found")
        return Message._make(row)

    def by_key(self, sender: AgentId, key: str) -> Message | None:
        row = self._sql.row(BY_KEY, sender=sender, key=key)
        return None if row is None else Message._make(row)

    def next_seq(self, recipient: AgentId, queue_limit: int) -> int:
        """Take the recipient's next number, and a place in its queue.

        Raises:
            RecipientQueueFull: it has `queue_limit` open messages.
        """
        row = self._sql.row(NEXT_SEQ, agent=recipient, most=queue_limit)
        if row is None:
            if self._sql.row("SELECT 1 FROM agent WHERE id = :agent", agent=recipient) is None:
                raise TargetNotFound(f"online target not found: {recipient}")
            raise RecipientQueueFull(
                f"recipient has {queue_limit} open requests", nextAction="wait_for_the_recipient", retryAfter=5
            )
        seq: int = row[0]
        return seq

    def add(self, message: Message) -> Message:
        """Store a new message; returns it with its number."""
        number = self._sql.insert(
            INSERT,
            id=message.id,
            project=message.project,
            sender=message.sender,
            sender_name=message.sender_name,
            recipient=message.recipient,
            recipient_name=message.recipient_name,
            delivery=message.delivery,
            hops=message.hops,
            max_hops=message.max_hops,
            seq=message.seq,
            correlation_id=message.correlation_id,
            reply_to=message.reply_to,
            idempotency_key=message.idempotency_key,
            sent_at=message.sent_at,
            expires_at=message.expires_at,
            status=str(message.status),
        )
        self._sql.run(INSERT_BODY, message=number, text=message.body)
        return message._replace(number=number)

    def save_delivered(self, message: Message) -> None:
        self._sql.run(DELIVERED, number=message.number, at=message.delivered_at)

    def save_final(self, message: Message, *, tell_sender: bool, tell_recipient: bool) -> Message:
        """Store a message that has become final, and number that for those who are to be told."""
        sender_event = self._next_event(message.sender) if tell_sender else None
        recipient_event = self._next_event(message.recipient) if tell_recipient else None
        self._sql.run(
            FINAL,
            number=message.number,
            status=str(message.status),
            replied_at=message.replied_at,
            cancelled_at=message.cancelled_at,
            final_at=message.final_at,
            sender_event=sender_event,
            recipient_event=recipient_event,
        )
        if message.reply is not None:
            self._sql.run(INSERT_REPLY, message=message.number, text=message.reply)
        self._sql.run(CLOSED, agent=message.recipient)
        return message._replace(sender_event=sender_event, recipient_event=recipient_event)

    def _next_event(self, agent: AgentId) -> int:
        row = self._sql.row(NEXT_EVENT, agent=agent)
        assert row is not None, "an agent is never deleted"
        number: int = row[0]
        return number

    def list(self, statement: str, **values: Any) -> list[Message]:
        """The messages that one of this module's statements selects."""
        return list(map(Message._make, self._sql.rows(statement, **values)))

    def purge(self, before: Millis, most: int) -> int:
        """Delete messages that were final at `before` or earlier, `most` at a time; returns how many."""
        numbers = self._sql.rows(PURGEABLE, before=before, most=most)
        for (number,) in numbers:
            for statement in PURGE:
                self._sql.run(statement, number=number)
        return len(numbers)

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

    def owes(self, project: str) -> Sequence[tuple[str, str, str, int, Millis]]:
        """(recipient, sender, status, how many, since) of the project's open messages."""
        return self._sql.rows(OWES, project=project)
