"""The hub's store: one transaction is one plain function, and what it wakes is woken after the commit."""

from collections.abc import Callable
from typing import NamedTuple, TypeVar

from peerline.core.errors import Stopping, Unavailable
from peerline.core.ids import AgentId
from peerline.core.message import Message
from peerline.database.later import Later
from peerline.database.sql import Sql
from peerline.database.writer import Writer
from peerline.store.tables.agents import AgentTable
from peerline.store.tables.leases import LeaseTable
from peerline.store.tables.messages import MessageTable
from peerline.store.tables.tokens import TokenTable
from peerline.store.tables.trail import TrailTable

T = TypeVar("T")


class Hint(NamedTuple):
    """ "Look again", for whoever listens for `agent`; `kind` is the frame's type, `message` what was committed."""

    agent: AgentId
    kind: str
    message: Message
    detail: object = None


class Tx:
    """One transaction: the tables, and the wake-ups it asks for."""

    def __init__(self, sql: Sql) -> None:
        self.messages = MessageTable(sql)
        self.agents = AgentTable(sql)
        self.trail = TrailTable(sql)
        self.leases = LeaseTable(sql)
        self.tokens = TokenTable(sql)
        self.hints: list[Hint] = []

        self._sql = sql

    def try_disk(self) -> None:
        """Change something and change it back: does the disk take writes again?"""
        self._sql.run("INSERT INTO note (message, number, at, text) VALUES (0, 0, 0, '')")
        self._sql.run("DELETE FROM note WHERE message = 0")

    @property
    def writes(self) -> int:
        return self._sql.writes

    def wake(self, agent: AgentId, kind: str, message: Message, detail: object = None) -> None:
        self.hints.append(Hint(agent, kind, message, detail))


class Store:
    def __init__(self, writer: Writer, wake: Callable[[list[Hint]], None]) -> None:
        self._writer = writer
        self._wake = wake
        self._tx: Tx | None = None
        self.trouble: str | None = None  # why the disk refused the newest write; None once one succeeded again

    def write(self, work: Callable[[Tx], T]) -> Later[T]:
        """Run `work` in one transaction: its result after the commit, or what it raised after the rollback.

        `work` may run more than once, so it touches nothing but its `tx`. Wake-ups asked for in `work` happen after
        the commit and before the result is handed on, or not at all.
        """
        hints: list[Hint] = []
        wrote = False

        def run(sql: Sql) -> T:
            nonlocal wrote
            tx = self._tx
            if tx is None:
                tx = self._tx = Tx(sql)
            hints.clear()
            tx.hints = hints
            before = sql.writes
            value = work(tx)
            wrote = sql.writes != before
            return value

        later = self._writer.submit(run)

        def after(settled: Later[T]) -> None:
            if settled.failed:
                if isinstance(settled.error, Unavailable) and not isinstance(settled.error, Stopping):
                    self.trouble = settled.error.text
            else:
                if wrote:
                    self.trouble = None
                if hints:
                    self._wake(hints)

        later.then(after)
        return later
