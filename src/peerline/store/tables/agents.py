"""Agents and their sessions; presence itself lives in memory and is flushed here lazily."""

from collections.abc import Iterable
from typing import NamedTuple

from peerline.core.agent import Agent
from peerline.core.ids import AgentId, Millis
from peerline.core.text import lower
from peerline.database.sql import Sql

ALL = "SELECT id, project, name, purpose, model, host, branch, connected_at, last_seen_at FROM agent"
SAVE = """
    INSERT INTO agent (id, project, name, name_key, purpose, model, host, branch, connected_at, last_seen_at)
    VALUES (:id, :project, :name, :name_key, :purpose, :model, :host, :branch, :connected_at, :last_seen_at)
    ON CONFLICT (id) DO UPDATE SET name = excluded.name, name_key = excluded.name_key, purpose = excluded.purpose,
        model = excluded.model, host = excluded.host, branch = excluded.branch, connected_at = excluded.connected_at,
        last_seen_at = excluded.last_seen_at
"""
SEEN = "UPDATE agent SET last_seen_at = :at WHERE id = :id"
GOT = "SELECT told FROM agent WHERE id = :id"
TOLD = "UPDATE agent SET told = :until WHERE id = :id AND told < :until"
SESSIONS = "SELECT key_digest, agent, opened_at, lease_until FROM session"
OPEN_SESSION = """
    INSERT INTO session (key_digest, agent, opened_at, lease_until)
    VALUES (:key_digest, :agent, :opened_at, :lease_until)
"""
RENEW_SESSION = "UPDATE session SET lease_until = :until WHERE key_digest = :key_digest"
CLOSE_SESSION = "DELETE FROM session WHERE key_digest = :key_digest"
CLOSE_SESSIONS = "DELETE FROM session WHERE agent = :agent"
RESUMED = """
    INSERT OR IGNORE INTO trail (message, at, fact, observer, detail)
    SELECT number, :at, :fact, :observer, :detail FROM message WHERE recipient = :agent AND final_at IS NULL
"""


class StoredSession(NamedTuple):
    """One registration: the digest of its key, and until when its agent counts as online for it (wall clock)."""

    key_digest: bytes
    agent: AgentId
    opened_at: Millis
    lease_until: Millis


class AgentTable:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def all(self) -> list[Agent]:
        return list(map(Agent._make, self._sql.rows(ALL)))

    def save(self, agent: Agent) -> None:
        self._sql.run(SAVE, name_key=lower(agent.name), **agent._asdict())

    def seen(self, times: Iterable[tuple[AgentId, Millis]]) -> None:
        for agent, at in times:
            self._sql.run(SEEN, id=agent, at=at)

    def got(self, agent: AgentId) -> int:
        """The number up to which the agent has got all its own events; 0 before the first."""
        row = self._sql.row(GOT, id=agent)
        return int(row[0]) if row else 0

    def told(self, agent: AgentId, got: set[int]) -> None:
        """The agent has got the events numbered in `got`: its watermark rises over those that close up to it."""
        until = before = self.got(agent)
        while until + 1 in got:
            until += 1
        if until > before:
            self._sql.run(TOLD, id=agent, until=until)

    def told_all(self, agent: AgentId, until: int) -> None:
        """The agent has got every event up to `until`."""
        self._sql.run(TOLD, id=agent, until=until)

    def sessions(self) -> list[StoredSession]:
        return [StoredSession(bytes(row[0]), *row[1:]) for row in self._sql.rows(SESSIONS)]

    def open_session(self, session: StoredSession) -> None:
        self._sql.run(OPEN_SESSION, **session._asdict())

    def renew_sessions(self, leases: Iterable[tuple[bytes, Millis]]) -> None:
        for key_digest, until in leases:
            self._sql.run(RENEW_SESSION, key_digest=key_digest, until=until)

    def close_session(self, key_digest: bytes) -> None:
        self._sql.run(CLOSE_SESSION, key_digest=key_digest)

    def close_sessions(self, agent: AgentId) -> None:
        self._sql.run(CLOSE_SESSIONS, agent=agent)

    def note_resumption(self, agent: AgentId, at: Millis, fact: str, observer: str, detail: str) -> None:
        """Write into the trail of each open request to this agent that its identity came back under a new key."""
        self._sql.run(RESUMED, agent=agent, at=at, fact=fact, observer=observer, detail=detail)
