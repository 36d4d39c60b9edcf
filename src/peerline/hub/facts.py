"""Facts that may be written a little later: pushed, read, outcome taken (decision 2)."""

from collections.abc import Callable

from peerline.core.agent import Agent
from peerline.core.ids import AgentId, MessageId, Millis
from peerline.core.message import Message
from peerline.core.trail import Fact, Observed, reported
from peerline.database.later import Later, ready
from peerline.store.api import Store, Tx

FLUSH_AT = 2_000


class Facts:
    """Collects facts in memory; `flush` stores them. A crash loses at most those of the last moment: they are
    observations, not states."""

    def __init__(self, store: Store, now: Callable[[], Millis]) -> None:
        self._store, self._now = store, now
        self._facts: list[tuple[int, Millis, str, str, str | None]] = []
        self._got: dict[AgentId, set[int]] = {}
        self._caught_up: dict[AgentId, int] = {}

    def observed(self, message: int, fact: Observed, observer: AgentId, detail: str | None = None) -> None:
        """`message` by its number; the observer is an agent."""
        self._facts.append((message, self._now(), fact, observer, detail))
        if len(self._facts) >= FLUSH_AT:
            self.flush()

    def report(
        self, message_id: MessageId, by: Agent, fact: Observed, adapter: str, reason: str | None = None
    ) -> Later[tuple[Message, Fact]]:
        """What the adapter at one end of a message says became of it, or of its outcome; stored, then answered."""
        now = self._now()
        told = Fact(now, fact, by.id, reported(adapter, reason))

        def work(tx: Tx) -> tuple[Message, Fact]:
            message = tx.messages.get(message_id).seen_by(by.id)
            tx.trail.add([(message.number, now, told.fact, told.observer, told.detail)])
            return message, told._replace(observer=by.name)

        return self._store.write(work)

    def got(
        self, message: int, fact: Observed, observer: AgentId, event: int | None, detail: str | None = None
    ) -> None:
        """That agent has the final state of the message, which is its own event of that number."""
        if event is not None:
            self._got.setdefault(observer, set()).add(event)
        self.observed(message, fact, observer, detail)

    def caught_up(self, agent: AgentId, event: int) -> None:
        """The agent has every own event up to that number."""
        self._caught_up[agent] = max(event, self._caught_up.get(agent, 0))

    def flush(self) -> Later[None]:
        if not self._facts and not self._caught_up:
            return ready(None)
        facts, self._facts = self._facts, []
        got, self._got = self._got, {}
        caught_up, self._caught_up = self._caught_up, {}

        def work(tx: Tx) -> None:
            if facts:
                tx.trail.add(facts)
            for agent, until in caught_up.items():
                tx.agents.told_all(agent, until)
            for agent, events in got.items():
                tx.agents.told(agent, events)

        return self._store.write(work)
