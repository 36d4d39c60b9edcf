"""A short fixed piece of work on a hub, written into a history: what a single failing call is thrown into."""

import itertools
from collections.abc import Awaitable
from dataclasses import dataclass, field

from .connection import Answer, Connection, Gone
from .history import History
from .peers import Peer

HONEST = {503: {"busy", "storage_failed", "hub_stopping", "storage_full"}, 507: {"storage_full"}}


@dataclass(slots=True)
class Script:
    """Two agents; each `run` sends three tasks and answers, cancels and keeps one of them."""

    history: History = field(default_factory=History)
    asker: Peer = field(init=False)
    helper: Peer = field(init=False)
    answers: list[Answer] = field(default_factory=list, init=False)
    gone: int = field(default=0, init=False)
    _numbers: "itertools.count[int]" = field(default_factory=itertools.count, init=False)

    async def register(self, port: int) -> None:
        self.asker, self.helper = (Peer(name, self.history, Connection(port)) for name in ("asker", "helper"))
        await self.asker.register()
        await self.helper.register()

    def leave(self) -> None:
        for peer in (self.asker, self.helper):
            peer.connection.close()

    async def run(self, port: int) -> None:
        """Every operation is tried, whatever became of the ones before it."""
        for peer in (self.asker, self.helper):
            peer.connection = Connection(port)
        sent: list[str] = []
        for _ in range(3):
            number = next(self._numbers)
            answer = await self._try(self.asker.send("helper", f"task {number}", f"key {number}"))
            if answer is not None and answer.status < 400:
                sent.append(answer.json()["message"]["id"])
        if sent:
            await self._try(self.helper.acknowledge(sent[0]))
            await self._try(self.helper.reply(sent[0], f"answer {next(self._numbers)}"))
            await self._try(self.asker.get(sent[0]))
            await self._try(self.asker.cancel(sent[-1]))
        self.leave()

    async def _try(self, asked: Awaitable[Answer]) -> Answer | None:
        try:
            answer = await asked
        except Gone:
            self.gone += 1
            return None
        self.answers.append(answer)
        return answer

    def dishonest(self) -> list[str]:
        """Answers that are neither success nor a refusal that names the disk; a traceback in any."""
        return [
            f"{answer.status} {answer.body[:200]!r}"
            for answer in self.answers
            if (answer.status >= 400 and answer.code not in HONEST.get(answer.status, ()))
            or b"Traceback" in answer.body
            or b"apsw" in answer.body
        ]
