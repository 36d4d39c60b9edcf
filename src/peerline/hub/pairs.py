"""Pairs of agents: what between two of them is held until a person lets it go on (decision 21)."""

from collections.abc import Callable
from typing import NamedTuple

from peerline.core.agent import Agent
from peerline.core.brake import Brake, Pair, pair
from peerline.core.errors import PairHeld, PersonOnly, SelfTarget
from peerline.core.ids import AgentId, Millis
from peerline.core.message import Message
from peerline.core.trail import Observed
from peerline.database.later import Later
from peerline.hub.agents import Agents
from peerline.hub.journal import Journal
from peerline.store.api import Store, Tx
from peerline.store.tables import messages as sql


class HeldPair(NamedTuple):
    """`since` is when the first of the `waiting` requests that are held now was sent."""

    agents: tuple[tuple[AgentId, str], tuple[AgentId, str]]  # ids and names
    waiting: int
    since: Millis


class Pairs:
    def __init__(
        self,
        store: Store,
        agents: Agents,
        journal: Journal,
        brake: Brake,
        now: Callable[[], Millis],
        monotonic: Callable[[], Millis],
    ) -> None:
        self._store, self._agents, self._journal, self._brake = store, agents, journal, brake
        self._now, self._monotonic = now, monotonic

    def load(self, held: list[Pair]) -> None:
        """Start from what is stored. A hub without a brake holds nothing new, and lets nothing go by itself."""
        if self._brake.limit:
            self._brake.held.update(held)

    def holds(self, tx: Tx, sender: Agent, recipient: Agent) -> bool:
        """Whether a request of these two is to be held; called once for each that is accepted.

        Raises:
            PairHeld: as many of theirs are held already as may go in a window.
        """
        brake = self._brake
        if not brake.limit or sender.gateway or recipient.gateway:
            return False  # of what goes through a gateway the room's reply budget is the limit
        if sender.person:
            brake.turn(recipient.id)
            return False
        if brake.passes(sender.id, recipient.id, self._monotonic()) or recipient.person:
            return False
        waiting = tx.messages.held_between(sender.id, recipient.id, self._now())
        if waiting >= brake.limit:
            raise PairHeld(
                f"{waiting} requests between {sender.name} and {recipient.name} are held until a person lets them go",
                nextAction="ask_a_person_to_continue",
            )
        key = pair(sender.id, recipient.id)
        if not waiting and key in brake.held:  # what was held has expired or was cancelled
            brake.held.discard(key)
            if brake.passes(sender.id, recipient.id, self._monotonic()):
                return False
        brake.held.add(key)
        return True

    def turn(self, agent: AgentId) -> None:
        """A person answered `agent`."""
        self._brake.turn(agent)

    def held(self, project: str) -> Later[list[HeldPair]]:
        """The project's pairs of which something is held; who has waited longest comes first."""
        now = self._now()
        return self._store.write(lambda tx: tx.messages.held(now)).map(
            lambda rows: self._pairs([row[1:] for row in rows if row[0] == project])
        )

    def _pairs(self, rows: list[tuple[AgentId, AgentId, int, Millis]]) -> list[HeldPair]:
        found: dict[Pair, HeldPair] = {}
        for sender, recipient, count, since in rows:
            key = pair(sender, recipient)
            before = found.get(key)
            one, other = ((agent, self._agents.name(agent)) for agent in key)
            found[key] = HeldPair(
                (one, other), count + (before.waiting if before else 0), min(since, before.since if before else since)
            )
        return sorted(found.values(), key=lambda each: each.since)

    def go_on(self, by: Agent, first: str, second: str) -> Later[HeldPair]:
        """Let what is held between two agents go out, in order, and count anew; `waiting` is how many went.

        Raises:
            PersonOnly: `by` is an agent: the brake is for a person to let go.
            TargetNotFound, SelfTarget
        """
        if not by.person:
            raise PersonOnly(
                "only a person lets two agents go on: run `peerline continue` at a terminal, under a name of your own",
                nextAction="ask_a_person_to_continue",
            )
        one = self._agents.target(by.project, first, allow_offline=True)
        other = self._agents.target(by.project, second, allow_offline=True)
        if one.id == other.id:
            raise SelfTarget("it takes two agents to be held")
        now = self._now()

        def work(tx: Tx) -> list[Message]:
            self._brake.clear(one.id, other.id)
            held = tx.messages.list(sql.HELD_BETWEEN, one=one.id, other=other.id, now=now)
            released = [message.released(tx.counters.next_seq(message.recipient)) for message in held]
            for message in released:
                tx.messages.let_go(message)
                tx.wake(message.recipient, "message", message)
            if released:
                tx.trail.add([(message.number, now, Observed.CONTINUED, by.id, None) for message in released])
                tx.counters.flush()  # a number beyond the messages' own order is not found again at a start
            return released

        def settled(done: Later[list[Message]]) -> None:
            if done.failed:
                self._brake.held.add(pair(one.id, other.id))  # the next send looks whether it is so

        def gone(released: list[Message]) -> HeldPair:
            self._journal.event(
                "pair_continued", project=by.project, agents=[one.id, other.id], by=by.id, count=len(released)
            )
            since = released[0].sent_at if released else now
            return HeldPair(((one.id, one.name), (other.id, other.name)), len(released), since)

        later = self._store.write(work)
        later.then(settled)
        return later.map(gone)
