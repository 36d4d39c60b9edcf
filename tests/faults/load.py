"""Mixed work of several peers at once: what a kill, a full disk or a cut is thrown into."""

import asyncio
import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass, field

from .connection import Connection, Gone
from .history import Act, Found, History, Outcome, Record
from .peers import Peer

PEERS = 8
SHORT_TTL_MS = 1_000


@dataclass(slots=True)
class Load:
    """Eight agents with memory across restarts of the hub. `chance` decides what each does next."""

    chance: random.Random
    history: History = field(default_factory=History)
    peers: list[Peer] = field(default_factory=list)
    _texts: "itertools.count[int]" = field(default_factory=itertools.count)

    async def register(self, port: int) -> None:
        self.peers = [Peer(f"peer-{n}", self.history, Connection(port)) for n in range(PEERS)]
        for peer in self.peers:
            await peer.register()
        self._leave()

    def _leave(self) -> None:
        for peer in self.peers:
            peer.connection.close()

    async def run(self, port: int, *, steps: int, listening: bool = True) -> None:
        """`steps` operations of each peer, or fewer when the hub is gone."""
        for peer in self.peers:
            peer.connection = Connection(port)
        async with asyncio.TaskGroup() as tasks:
            streams = [tasks.create_task(peer.listen()) for peer in self.peers if listening]
            workers = [tasks.create_task(self._work(peer, steps)) for peer in self.peers]
            await asyncio.wait(workers)
            for stream in streams:
                stream.cancel()
        self._leave()

    async def _work(self, peer: Peer, steps: int) -> None:
        try:
            for _ in range(steps):
                await self._step(peer)
        except Gone:
            return

    async def _step(self, peer: Peer) -> None:
        """One operation. What the hub must refuse is among them."""
        dice = self.chance.random()
        mine = [op for op in peer.sent if op.message is not None]
        heard = peer.heard[-20:]
        if dice < 0.40 or not (mine and heard):
            await self._send(peer)
        elif dice < 0.50:
            await self._send_again(peer)
        elif dice < 0.65:
            await peer.acknowledge(self.chance.choice(heard))
        elif dice < 0.82:
            await peer.reply(self.chance.choice(heard), f"answer {next(self._texts)}")
        elif dice < 0.90:
            await peer.cancel(self.chance.choice(mine[-20:]).message or "")
        elif dice < 0.95:
            await peer.get(self.chance.choice(mine).message or "")
        else:
            await peer.wait(self.chance.choice(mine[-20:]).message or "", 50)

    async def _send(self, peer: Peer) -> None:
        target = self.chance.choice([other for other in self.peers if other is not peer])
        number = next(self._texts)
        key = f"key {number}" if self.chance.random() < 0.7 else None
        ttl_ms = SHORT_TTL_MS if self.chance.random() < 0.15 else 3_600_000
        await peer.send(target.name, f"{target.name}: task {number}, {ttl_ms} ms", key, ttl_ms)

    async def _send_again(self, peer: Peer) -> None:
        """A retry with the same key; one in five with other fields, which must be refused."""
        keyed = [op for op in peer.sent if op.key is not None]
        if not keyed:
            return await self._send(peer)
        before = self.chance.choice(keyed[-20:])
        if self.chance.random() < 0.2:
            await peer.send(self._target(before.text), f"{before.text} changed", before.key, self._ttl_ms(before.text))
        else:
            await self._repeat(peer, before.text, before.key)
        return None

    async def _repeat(self, peer: Peer, text: str, key: str | None) -> None:
        await peer.send(self._target(text), text, key, self._ttl_ms(text))

    @staticmethod
    def _target(text: str) -> str:
        return text.partition(":")[0]

    @staticmethod
    def _ttl_ms(text: str) -> int:
        return int(text.partition(", ")[2].partition(" ms")[0])

    async def settle(self, port: int) -> None:
        """Retry every keyed send that never got an answer: it must come to exactly one message."""
        for peer in self.peers:
            peer.connection = Connection(port)
            answered = {op.key for op in peer.sent if op.outcome is not Outcome.UNKNOWN}
            open_ = {op.key: op.text for op in peer.sent if op.outcome is Outcome.UNKNOWN and op.key not in answered}
            for key, text in open_.items():
                if key is not None and not text.endswith("changed"):
                    await self._repeat(peer, text, key)
        self._leave()

    async def look(self, port: int, rows: Sequence[Record], now_ms: int, *, within_s: float = 20.0) -> Found:
        """What the peers see once the hub is back: inboxes, and what a newly opened stream offers."""
        due: dict[str, set[str]] = {
            peer.id: {row.id for row in rows if row.recipient == peer.id and row.status == "queued"}
            for peer in self.peers
        }
        offered: dict[str, frozenset[str]] = {}
        inboxes: dict[str, frozenset[str]] = {}
        for peer in self.peers:
            peer.connection = Connection(port)
            before = len(self.history.operations)
            listener = asyncio.create_task(peer.listen())
            try:
                async with asyncio.timeout(within_s):
                    while not due[peer.id] <= self._pushed(peer, before) and not listener.done():
                        inboxes[peer.id] = frozenset(row.id for row in await peer.inbox())
                        due[peer.id] &= inboxes[peer.id]  # what expired meanwhile is owed no longer
            except TimeoutError:
                pass  # the checker names what was not offered
            finally:
                listener.cancel()
            inboxes[peer.id] = frozenset(row.id for row in await peer.inbox())
            offered[peer.id] = self._pushed(peer, before)
        self._leave()
        return Found(rows=rows, now_ms=now_ms, inboxes=inboxes, offered=offered)

    def _pushed(self, peer: Peer, since: int) -> frozenset[str]:
        return frozenset(
            op.message
            for op in self.history.operations[since:]
            if op.act is Act.PUSHED and op.agent == peer.id and op.message is not None
        )
