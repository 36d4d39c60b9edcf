"""The hub's store: one transaction is one plain function, and what it wakes is woken after the commit."""

from collections.abc import Callable
from typing import Any, TypeVar

from peerline.core.ids import AgentId
from peerline.core.message import Message
from peerline.database.later import Later
from peerline.database.sql import Sql
from peerline.database.writer import Writer
from peerline.store.counters import Counters
from peerline.store.recent import Recent
from peerline.store.tables.agents import AgentTable
from peerline.store.tables.by_agent import ByAgent
from peerline.store.tables.leases import LeaseTable
from peerline.store.tables.messages import MessageTable
from peerline.store.tables.tokens import TokenTable
from peerline.store.tables.trail import TrailTable

T = TypeVar("T")


class Hint:
    """ "Look again", for whoever listens for `agent`; `kind` is the frame's type, `message` what was committed."""

    __slots__ = ("agent", "detail", "kind", "message")

    def __init__(self, agent: AgentId, kind: str, message: Message, detail: Any = None) -> None:
        self.agent, self.kind, self.message, self.detail = agent, kind, message, detail


class Tx:
    """One transaction: the tables, and the wake-ups it asks for."""

    def __init__(self, sql: Sql) -> None:
        self.recent = Recent()
        self.counters = Counters(sql, self._newest_event)
        self.by_agent = ByAgent(sql, self.counters)
        self.messages = MessageTable(sql, self.recent, self.by_agent.take_in)
        self.agents = AgentTable(sql)
        self.trail = TrailTable(sql)
        self.leases = LeaseTable(sql)
        self.tokens = TokenTable(sql)
        self.hints: list[Hint] | None = None
        self._sql = sql

    def _newest_event(self, agent: AgentId) -> int:
        return self.by_agent.newest_event(agent)

    def try_disk(self) -> None:
        """Change something and change it back: does the disk take writes again?"""
        self._sql.run("INSERT INTO note (message, number, at, text) VALUES (0, 0, 0, '')")
        self._sql.run("DELETE FROM note WHERE message = 0")

    def wake(self, agent: AgentId, kind: str, message: Message, detail: Any = None) -> None:
        if self.hints is None:
            self.hints = []
        self.hints.append(Hint(agent, kind, message, detail))


class Tables:
    """The writer's scope over the hub's tables: hints are fired after the commit, and the disk's trouble is kept."""

    def __init__(self, wake: Callable[[list[Hint]], None]) -> None:
        self.done = wake
        self.trouble: str | None = None  # why the disk refused the newest write; None once one succeeded again

    def bind(self, sql: Sql) -> None:
        self._tx = Tx(sql)

    def enter(self) -> Tx:
        self._tx.hints = None
        return self._tx

    def aside(self) -> list[Hint] | None:
        hints = self._tx.hints
        self._tx.hints = None
        return hints

    def undone(self) -> None:
        self._tx.recent.clear()
        self._tx.by_agent.undone()

    @property
    def behind(self) -> bool:
        return self._tx.by_agent.behind

    def wrote(self) -> None:
        self.trouble = None

    def refused(self, error: BaseException) -> None:
        self.trouble = str(error)


class Store:
    def __init__(self, writer: Writer, tables: Tables) -> None:
        self._submit = writer.submit
        self._tables = tables

    @property
    def trouble(self) -> str | None:
        """What is wrong with the disk, in one line."""
        return self._tables.trouble

    def take_in(self) -> None:
        """Bring the lists by agent up to date, if they are behind; to be called now and then."""
        if self._tables.behind:
            self._submit(lambda tx: tx.by_agent.take_in())

    def write(self, work: Callable[[Tx], T]) -> Later[T]:
        """Run `work` in one transaction: its result after the commit, or what it raised after the rollback.

        `work` may run more than once, so it touches nothing but its `tx`. Wake-ups asked for in `work` happen after
        the commit and before the result is handed on, or not at all.
        """
        return self._submit(work)
