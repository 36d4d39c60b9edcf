"""Power cuts under a working hub (R2): what was answered before the cut must be on the disk after it."""

import asyncio
import random
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from pathlib import Path

from . import stored
from .history import LATER_THAN_ALL, Found, Operation, Outcome, violations
from .kills import now_ms
from .load import Load
from .power_cut import Plug
from .victim import PROBED, Victim

STEPS = 1_000_000
RESTART_EVERY = 10


@dataclass(slots=True)
class PowerCampaign:
    """`lost` and `unsound` name the cuts that lost an answered change, or left a file that fails its checks."""

    plug: Plug
    chance: random.Random
    settings: dict[str, str] = field(default_factory=dict)
    lost: list[str] = field(default_factory=list, init=False)
    unsound: list[str] = field(default_factory=list, init=False)
    cuts: int = field(default=0, init=False)
    restarts: int = field(default=0, init=False)
    load: Load = field(init=False)

    def run(self, *, busy: int, paced: int) -> None:
        self.load = Load(self.chance)
        hub = Victim(self.plug.disk / "state", self.plug.disk / "hub.db", command=PROBED, settings=self.settings)
        try:
            hub.start()
            asyncio.run(self._run(hub, busy, paced))
        finally:
            hub.kill()

    async def _run(self, hub: Victim, busy: int, paced: int) -> None:
        await self.load.register(hub.port)
        working = asyncio.create_task(self.load.run(hub.port, steps=STEPS))
        try:
            for _ in range(busy):
                await self._answers(self.chance.randint(1, 200))
                await self._cut()
        finally:
            working.cancel()
            with suppress(asyncio.CancelledError):
                await working
        for _ in range(paced):
            # One change, answered, and nothing after it: no later commit can carry an unsynced one to the disk.
            await self.load.run(hub.port, steps=1, listening=False)
            await self._cut()
        assert hub.running, hub.errors()

    async def _answers(self, count: int) -> None:
        """Returns when the hub has given `count` more answers."""
        self.load.history.call_after(count, (told := asyncio.Event()).set)
        await told.wait()

    async def _cut(self) -> None:
        history = self.load.history
        at = history.tick()
        copy = await asyncio.to_thread(self.plug.pull)
        operations = [_as_of(at, op) for op in history.operations]
        self.cuts += 1
        await asyncio.to_thread(self._judge, copy, operations)

    def _judge(self, copy: Path, operations: Sequence[Operation]) -> None:
        with self.plug.rebooted(copy) as disk:
            data = disk / "hub.db"
            if wrong := stored.unsound(data):
                self.unsound.append(f"cut {self.cuts}: {wrong[0]}")
                return
            rows = stored.rows(data)
            if broken := violations(operations, Found(rows=rows, now_ms=now_ms())):
                self.lost.append(f"cut {self.cuts}: {len(broken)}, first {broken[0]}")
            elif self.cuts % RESTART_EVERY == 0:
                again = Victim(disk / "state", data)
                try:
                    again.start()
                    self.restarts += 1
                finally:
                    again.kill()

    def figures(self) -> str:
        done = sum(op.outcome is Outcome.DONE for op in self.load.history.operations)
        return (
            f"{self.cuts} cuts, {done} operations acknowledged: {len(self.lost)} cuts lost some, "
            f"{len(self.unsound)} left an unsound file; {self.restarts} restarts from what was left"
        )


def _as_of(at: int, op: Operation) -> Operation:
    """What a client knew at that moment: later answers are as if they never came."""
    if op.ended < at:
        return replace(op)
    return replace(op, outcome=Outcome.UNKNOWN, ended=LATER_THAN_ALL, seen=None)
