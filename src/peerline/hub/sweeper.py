"""The clean-up loop: expiry, retention, presence, and the facts and leases that memory holds."""

import asyncio
from collections.abc import Awaitable, Callable

from peerline.core.errors import PeerlineError
from peerline.core.rate import RateWindow
from peerline.hub.agents import Agents
from peerline.hub.clock import HubClock
from peerline.hub.facts import Facts
from peerline.hub.leases import Leases
from peerline.hub.messages import Messages
from peerline.hub.projects import Projects
from peerline.store.api import Store

PAGE = 200
ROUNDS = 50  # pages a sweep: what is left waits for the next one, so that callers are not kept waiting


class Sweeper:
    def __init__(
        self,
        messages: Messages,
        agents: Agents,
        leases: Leases,
        projects: Projects,
        facts: Facts,
        clock: HubClock,
        rates: RateWindow,
        retention_ms: int,
        store: Store,
    ) -> None:
        self._messages, self._agents, self._leases, self._projects = messages, agents, leases, projects
        self._facts, self._clock, self._rates, self._retention_ms = facts, clock, rates, retention_ms
        self._store = store
        self.purged = 0

    def expire(self) -> None:
        """Once a second: what is due becomes final now and not at the next round."""
        self._messages.expire_due(PAGE)

    async def sweep(self) -> None:
        """One round. A disk that refuses leaves the rest for the next round: nothing here is urgent."""
        self._clock.look()
        self._rates.sweep(self._clock.monotonic())
        for _ in self._agents.sweeping():
            await asyncio.sleep(0)
        self._projects.end_streams()
        try:
            if self._store.trouble is not None:
                await self._store.write(lambda tx: tx.try_disk())
            for stored in self._agents.flushing():
                await stored
            await self._facts.flush()
            await self._until_short(lambda: self._messages.expire_due(PAGE))
            self.purged += await self._until_short(lambda: self._messages.purge(self._retention_ms, PAGE))
            await self._leases.purge()
        except PeerlineError:
            return

    async def _until_short(self, step: Callable[[], Awaitable[int]]) -> int:
        total = 0
        for _ in range(ROUNDS):
            done = await step()
            total += done
            if done < PAGE:
                break
        return total
