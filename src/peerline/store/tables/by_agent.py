"""What each agent sent, and its own events: two lists sorted by agent, a moment behind until somebody reads them.

An index of the message table would be up to date at once, and cost each commit a page for each agent in it. These lists
take in what is new four times a second, sorted, and always before they are read, in the reading's own transaction: what
was not taken in when the hub died is found again by the two marks, which stand in the same commit as the entries.
"""

from peerline.database.sql import Sql
from peerline.store.counters import Counters

MARKS = "SELECT (SELECT value FROM mark WHERE name = 'sent'), (SELECT value FROM mark WHERE name = 'ended')"
PUT_MARK = """
    INSERT INTO mark (name, value) VALUES (:name, :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
TAKE_SENT = """
    INSERT INTO sent (sender, message) SELECT sender, number FROM message WHERE number > :after ORDER BY sender, number
"""
TAKE_EVENTS = """
    INSERT INTO event (agent, number, message)
    SELECT sender, sender_event, number FROM message WHERE ended > :after AND sender_event IS NOT NULL
    UNION ALL
    SELECT recipient, recipient_event, number FROM message WHERE ended > :after AND recipient_event IS NOT NULL
    ORDER BY 1, 2
"""
NEWEST_EVENT = "SELECT max(number) FROM event WHERE agent = :agent"


class ByAgent:
    def __init__(self, sql: Sql, counters: Counters) -> None:
        self._sql, self._counters = sql, counters
        self._sent: int | None = None  # the newest message that is in the list; None: look at the marks
        self._ended: int | None = None  # the newest ending whose events are

    @property
    def behind(self) -> bool:
        """Whether there may be something to take in."""
        return (self._sent, self._ended) != (self._counters.number, self._counters.ended)

    def take_in(self) -> None:
        """Bring both lists up to date."""
        number, ended = self._counters.newest()
        if self._sent is None or self._ended is None:
            row = self._sql.row(MARKS)
            self._sent, self._ended = (row[0] or 0, row[1] or 0) if row else (0, 0)
        if self._sent < number:
            self._sql.run(TAKE_SENT, after=self._sent)
            self._sql.run(PUT_MARK, name="sent", value=number)
            self._sent = number
        if self._ended < ended:
            self._sql.run(TAKE_EVENTS, after=self._ended)
            self._sql.run(PUT_MARK, name="ended", value=ended)
            self._ended = ended

    def newest_event(self, agent: str) -> int:
        """The number of the agent's newest own event; 0 before the first."""
        self.take_in()
        row = self._sql.row(NEWEST_EVENT, agent=agent)
        return int(row[0]) if row and row[0] is not None else 0

    def undone(self) -> None:
        """A transaction was taken back, and with it perhaps what was taken in."""
        self._sent = self._ended = None
