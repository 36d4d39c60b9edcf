"""The numbers that rise: of messages, of each recipient's requests, of each agent's own events.

They live in memory, because a row an agent rewritten with each message would cost more than the message. Nothing is
lost with them: each number stands in a message's own row, in the same commit; at start they are read back from there,
beyond what the last flush has put into the agents' rows. Numbers may have gaps (work that was rolled back), never
twins.
"""

from collections.abc import Callable

from peerline.core.errors import RecipientQueueFull
from peerline.core.ids import AgentId
from peerline.database.sql import Sql

MARK = "SELECT value FROM mark WHERE name = 'counted'"
PUT_MARK = """
    INSERT INTO mark (name, value) VALUES ('counted', :value) ON CONFLICT (name) DO UPDATE SET value = excluded.value
"""
NEWEST = "SELECT max(number) FROM message"
SEQS = "SELECT id, next_seq FROM agent"
NEWER_SEQS = "SELECT recipient, max(seq) FROM message WHERE number > :counted GROUP BY recipient"
ENDED = "SELECT (SELECT max(ended) FROM message), (SELECT value FROM mark WHERE name = 'ended')"
EVENTS = "SELECT events FROM agent WHERE id = :agent"
OPEN = """
    SELECT count(*) FROM (SELECT 1 FROM message WHERE recipient = :agent AND final_at IS NULL LIMIT :most)
"""
SAVE = "UPDATE agent SET next_seq = max(next_seq, :seq), events = max(events, :events) WHERE id = :agent"


class Counters:
    def __init__(self, sql: Sql, newest_event: Callable[[AgentId], int]) -> None:
        """`newest_event` gives the number of an agent's newest own event that is stored."""
        self._sql, self._newest_event = sql, newest_event
        self.number: int | None = None  # the newest message's; None: not read yet
        self.ended: int | None = None  # how many have become final
        self._seqs: dict[AgentId, int] = {}
        self._events: dict[AgentId, int] = {}
        self._open: dict[AgentId, int] = {}
        self._changed: set[AgentId] = set()

    def next_number(self) -> int:
        """The number of the next message in the store."""
        self.number = (self._load() if self.number is None else self.number) + 1
        return self.number

    def next_ended(self) -> int:
        """The number of the next message that becomes final."""
        self.ended = (self._load_ended() if self.ended is None else self.ended) + 1
        return self.ended

    def newest(self) -> tuple[int, int]:
        """The number of the newest message, and of the one that became final last."""
        if self.number is None:
            self.number = self._load()
        if self.ended is None:
            self.ended = self._load_ended()
        return self.number, self.ended

    def _load_ended(self) -> int:
        row = self._sql.row(ENDED)
        return max(row[0] or 0, row[1] or 0) if row else 0

    def _load(self) -> int:
        row = self._sql.row(MARK)
        counted = int(row[0]) if row else 0
        self._seqs = dict(self._sql.rows(SEQS))
        for agent, seq in self._sql.rows(NEWER_SEQS, counted=counted):
            self._seqs[agent] = max(seq, self._seqs.get(agent, 0))
            self._changed.add(agent)
        newest = self._sql.row(NEWEST)
        return max(counted, int(newest[0]) if newest and newest[0] is not None else 0)

    def next_seq(self, recipient: AgentId) -> int:
        """The number of the recipient's next request."""
        if self.number is None:
            self.number = self._load()
        seq = self._seqs[recipient] = self._seqs.get(recipient, 0) + 1
        self._changed.add(recipient)
        return seq

    def next_event(self, agent: AgentId) -> int:
        event = self._events[agent] = self.events(agent) + 1
        self._changed.add(agent)
        return event

    def events(self, agent: AgentId) -> int:
        """The number of the agent's newest own event; 0 before the first."""
        known = self._events.get(agent)
        if known is None:
            row = self._sql.row(EVENTS, agent=agent)
            known = self._events[agent] = max(row[0] if row else 0, self._newest_event(agent))
        return known

    def take_place(self, recipient: AgentId, queue_limit: int) -> None:
        """One more open request. What is kept is never less than what is true; it is counted anew when it matters.

        Raises:
            RecipientQueueFull: it has `queue_limit` open ones.
        """
        known = self._open.get(recipient, queue_limit)
        if known >= queue_limit:
            row = self._sql.row(OPEN, agent=recipient, most=queue_limit)
            known = self._open[recipient] = int(row[0]) if row else 0
            if known >= queue_limit:
                raise RecipientQueueFull(
                    f"recipient has {queue_limit} open requests", nextAction="wait_for_the_recipient", retryAfter=5
                )
        self._open[recipient] = known + 1

    def flush(self) -> None:
        """Put what rose into the agents' rows; before messages are purged, whose rows hold it else."""
        if not self._changed or self.number is None:
            return
        for agent in self._changed:
            self._sql.run(SAVE, agent=agent, seq=self._seqs.get(agent, 0), events=self._events.get(agent, 0))
        self._sql.run(PUT_MARK, value=self.number)
        self._changed.clear()
