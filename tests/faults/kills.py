"""The kill campaign (R1): the hub dies by SIGKILL under load, again and again, on one store that must stay true."""

import asyncio
import random
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from time import time_ns

from . import stored
from .history import FINAL, OPEN, Act, Found, Outcome, Record, violations
from .load import Load
from .victim import PROBED, Victim

AT_RANDOM = "at random"
HOOKED = ("worked", "before_commit", "committed", "pushing")
STATES = (*OPEN, *FINAL)
CHANGES = (Act.SEND, Act.ACKNOWLEDGE, Act.REPLY, Act.CANCEL)
STEPS = 3_000


def now_ms() -> int:
    return time_ns() // 1_000_000


@dataclass(slots=True)
class KillCampaign:
    """`sometimes` counts fault × state of a message at work; `cut_off` fault × act × whether it had happened."""

    folder: Path
    chance: random.Random
    hub: Victim = field(init=False)
    load: Load = field(init=False)
    sometimes: Counter[tuple[str, str]] = field(default_factory=Counter, init=False)
    cut_off: Counter[tuple[str, Act, bool]] = field(default_factory=Counter, init=False)
    kills: Counter[str] = field(default_factory=Counter, init=False)
    ready_s: list[float] = field(default_factory=list, init=False)
    _before: int = field(default=0, init=False)

    def __post_init__(self) -> None:
        self.hub = Victim(self.folder / "state", self.folder / "hub.db", command=PROBED)
        self.load = Load(self.chance)

    def begin(self) -> None:
        self.hub.start()
        asyncio.run(self.load.register(self.hub.port))
        self.hub.kill()

    def round(self, fault: str) -> None:
        """One life of the hub, ended by `fault`; then the store as it lies there is judged."""
        operations = self.load.history.operations
        mark, self._before = self._before, len(operations)
        if fault == AT_RANDOM:
            self.hub.start()
            asyncio.run(self._killed_after(self.chance.uniform(0.005, 0.080)))
        else:
            self.hub.start(FAULT_KILL_AT=fault, FAULT_KILL_HIT=str(self.chance.randint(1, 120)))
            asyncio.run(self.load.run(self.hub.port, steps=STEPS))
            assert not self.hub.running or self.hub.ended(5) == -9, f"the hub never came to {fault}"
        assert self.hub.ended(5) == -9, f"the hub ended by itself: {self.hub.errors()}"
        self.ready_s.append(self.hub.ready_s)
        self.kills[fault] += 1
        rows = self.judged()
        self._count(fault, mark, rows)

    async def _killed_after(self, seconds: float) -> None:
        asyncio.get_running_loop().call_later(seconds, self.hub.process.kill)
        await self.load.run(self.hub.port, steps=STEPS)

    def judged(self) -> Sequence[Record]:
        """The rows of a copy of the store, after every check on it."""
        copy = stored.copied(self.hub.data, self.folder / "copy")
        assert stored.unsound(copy) == []
        rows = stored.rows(copy)
        assert violations(self.load.history.operations, Found(rows=rows, now_ms=now_ms())) == []
        return rows

    def _count(self, fault: str, mark: int, rows: Sequence[Record]) -> None:
        """`mark`: where the round before this one began; its messages were still at work."""
        by_id = {row.id: row for row in rows}
        contents = {(row.sender, row.content) for row in rows}
        operations = self.load.history.operations
        for id_ in {op.message for op in operations[mark:] if op.message is not None}:
            if id_ in by_id:
                self.sometimes[fault, by_id[id_].status] += 1
        for op in operations[self._before :]:
            if op.outcome is Outcome.UNKNOWN and op.act in CHANGES:
                row = by_id.get(op.message or "")
                happened = {
                    Act.SEND: (op.agent, op.text) in contents,
                    Act.ACKNOWLEDGE: row is not None and row.status != "queued",
                    Act.REPLY: row is not None and row.reply == op.text,
                    Act.CANCEL: row is not None and row.status == "cancelled",
                }
                self.cut_off[fault, op.act, happened[op.act]] += 1

    def end(self) -> Sequence[Record]:
        """The hub once more, unharmed: retries converge, every promise is looked at from outside too."""
        self.hub.start()
        port = self.hub.port
        asyncio.run(self.load.settle(port))
        rows = stored.rows(stored.copied(self.hub.data, self.folder / "copy"))
        found = asyncio.run(self.load.look(port, rows, now_ms()))
        # Looking may have expired what was due, so the rows are read again behind it.
        rows = stored.rows(stored.copied(self.hub.data, self.folder / "copy"))
        found = Found(rows=rows, now_ms=now_ms(), inboxes=found.inboxes, offered=found.offered)
        assert violations(self.load.history.operations, found) == []
        self.hub.kill()
        return rows

    def never(self, faults: Sequence[str]) -> list[str]:
        """What a full campaign must have met and has not: it proves nothing then."""
        missing = [f"{fault} × {state}" for fault in faults for state in STATES if not self.sometimes[fault, state]]
        missing += [
            f"{fault} × {act} in flight"
            for fault in faults
            for act in CHANGES
            if not self.cut_off[fault, act, True] + self.cut_off[fault, act, False]
        ]
        missing += ["an unanswered send that had happened"] * (not self.cut_off["committed", Act.SEND, True])
        missing += ["an unanswered send that had not"] * (not self.cut_off["before_commit", Act.SEND, False])
        return missing

    def figures(self) -> str:
        times = sorted(self.ready_s)
        operations = self.load.history.operations
        done = sum(op.outcome is Outcome.DONE for op in operations)
        unknown = sum(op.outcome is Outcome.UNKNOWN for op in operations)
        p99 = times[min(len(times) - 1, int(len(times) * 0.99))]
        kinds = ", ".join(f"{n} {fault}" for fault, n in sorted(self.kills.items()))
        return (
            f"{sum(self.kills.values())} kills ({kinds}); "
            f"{len(operations)} operations, {done} acknowledged, {unknown} cut off; 0 lost; "
            f"restart to ready p50 {times[len(times) // 2]:.2f} s, p99 {p99:.2f} s"
        )
