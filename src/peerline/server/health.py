"""Health and readiness: no credential, no rate limit, and health never waits for the store (spec/hub.md 3.6)."""

import asyncio
from collections.abc import Callable

from peerline.core.ids import AgentId
from peerline.database.later import Later
from peerline.hub.agents import Agents
from peerline.server.exchange import Answer, Response
from peerline.server.refusals import json_answer
from peerline.server.routes import Call, Proof, Route
from peerline.store.api import Store

NOBODY = AgentId("")
READY_S = 8.0  # longer than another process's lock is waited for


class HealthRoutes:
    def __init__(
        self, agents: Agents, store: Store, storage: str, trouble: Callable[[], str | None], version: str
    ) -> None:
        """`storage` is "sqlite" or "memory"; `trouble` says in one line what is wrong with the disk, or None."""
        self._agents, self._store, self._storage = agents, store, storage
        self._trouble, self._version = trouble, version

    def routes(self) -> list[Route]:
        none = Proof.NONE
        return [
            Route("GET", "/health", none, self.health, None, "Is the process alive?", limited=False),
            Route("GET", "/ready", none, self.ready, None, "Can it store?", limited=False, answers=(200, 503)),
        ]

    def health(self, call: Call) -> Answer:
        trouble = self._trouble()
        answer: dict[str, object] = {"ok": True, "agents": self._agents.online_count(), "version": self._version}
        if trouble is not None:
            answer |= {"degraded": True, "detail": trouble}
        return json_answer(answer)

    def ready(self, call: Call) -> Answer:
        after: Later[Response] = Later()

        def looked(done: Later[int]) -> None:
            after.succeed(self._verdict(not done.failed and self._trouble() is None))

        self._store.write(lambda tx: tx.agents.got(NOBODY)).then(looked)
        asyncio.get_running_loop().call_later(READY_S, lambda: after.succeed(self._verdict(False)))
        return after

    def _verdict(self, ok: bool) -> Response:
        return json_answer({"ok": ok, "storage": self._storage}, 200 if ok else 503)
