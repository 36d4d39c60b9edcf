"""Whether a store agrees with itself: what SQLite finds, and what only the hub's own tables can contradict."""

from typing import Final, NamedTuple

import apsw

from peerline.database.backup import NoStore
from peerline.database.connection import APPLICATION_ID

TABLES: Final = (
    "agent",
    "session",
    "message",
    "body",
    "reply",
    "trail",
    "note",
    "sent",
    "event",
    "lease",
    "project_token",
)
# How many rows contradict another table, the lists by agent as far as their marks reach; each is one short reading, so
# that a running hub's log is not held for long.
CONTRADICTIONS: Final = {
    "messages without their text": "SELECT count(*) FROM message WHERE number NOT IN (SELECT message FROM body)",
    "texts without their message": "SELECT count(*) FROM body WHERE message NOT IN (SELECT number FROM message)",
    "replied messages without their reply": """
        SELECT count(*) FROM message WHERE status = 'replied' AND number NOT IN (SELECT message FROM reply)
    """,
    "messages whose sender or recipient is missing": """
        SELECT count(*) FROM message
        WHERE sender NOT IN (SELECT id FROM agent) OR recipient NOT IN (SELECT id FROM agent)
    """,
    "entries in the lists by agent without their message": """
        SELECT (SELECT count(*) FROM sent WHERE message NOT IN (SELECT number FROM message))
            + (SELECT count(*) FROM event WHERE message NOT IN (SELECT number FROM message))
    """,
    "messages that are missing in their sender's list": """
        SELECT count(*) FROM message m WHERE number <= (SELECT value FROM mark WHERE name = 'sent')
        AND NOT EXISTS (SELECT 1 FROM sent s WHERE s.sender = m.sender AND s.message = m.number)
    """,
    "outcomes that are missing in an agent's list": """
        SELECT count(*) FROM message m
        WHERE coalesce(ended, 0) <= coalesce((SELECT value FROM mark WHERE name = 'ended'), 0)
        AND ((sender_event IS NOT NULL AND number NOT IN (
                SELECT message FROM event e WHERE e.agent = m.sender AND e.number = m.sender_event))
            OR (recipient_event IS NOT NULL AND number NOT IN (
                SELECT message FROM event e WHERE e.agent = m.recipient AND e.number = m.recipient_event)))
    """,
    "requests that share a number with another of the same recipient": """
        SELECT count(*) FROM (SELECT 1 FROM message GROUP BY recipient, seq HAVING count(*) > 1)
    """,
}


class Condition(NamedTuple):
    """What was found; `complaints` is empty for a sound store. `counts` holds what could be counted."""

    schema_version: int
    counts: dict[str, int]
    complaints: list[str]


def condition(connection: apsw.Connection) -> Condition:
    """Look at a store through a connection that can't change it. Damage is told, not raised.

    Raises:
        NoStore: it is empty, or another program's. apsw.BusyError, apsw.IOError, apsw.CantOpenError: it can't be read.
    """
    complaints: list[str] = []
    counts: dict[str, int] = {}
    version = 0
    try:
        if connection.pragma("application_id") != APPLICATION_ID:
            raise NoStore("the file was written by another program, or is empty")
        version = _number(connection, "PRAGMA user_version")
        for table in TABLES:
            found = connection.execute(f"PRAGMA quick_check({table})").fetchall()
            complaints += [f"{table}: {' '.join(str(row[0]).split())}" for row in found[:3] if row[0] != "ok"]
            counts[table] = _number(connection, f"SELECT count(*) FROM {table}")  # noqa: S608 - our own names
        for about, question in CONTRADICTIONS.items():
            if number := _number(connection, question):
                complaints.append(f"{number} {about}")
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError) as error:
        complaints.append(str(error))
    return Condition(version, counts, complaints)


def _number(connection: apsw.Connection, question: str) -> int:
    ((answer,),) = connection.execute(question).fetchall()
    assert isinstance(answer, int), question
    return answer
