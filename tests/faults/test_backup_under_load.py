"""R15: a backup taken while the hub works holds every message that was acknowledged before it began."""

import asyncio
import os
import random
import subprocess
import sys
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import pytest

from . import stored
from .history import LATER_THAN_ALL, Found, Operation, Outcome, violations
from .kills import now_ms
from .load import Load
from .victim import PLAIN, Victim, started

KXM = [sys.executable, "-m", "peerline.cli.hot", "kxm"]


def kxm(hub: Victim, *arguments: str, **settings: str) -> None:
    environment = {
        **{name: value for name, value in os.environ.items() if not name.startswith("KXM_")},
        "KXM_STATE_HOME": str(hub.state),
        "KXM_DATA_PATH": str(hub.data),
        **settings,
    }
    done = subprocess.run([*KXM, *arguments], check=False, env=environment, capture_output=True, text=True)
    assert done.returncode == 0, done.stderr


def as_of(at: int, op: Operation) -> Operation:
    return replace(op) if op.ended < at else replace(op, outcome=Outcome.UNKNOWN, ended=LATER_THAN_ALL, seen=None)


EACH = 10


@pytest.mark.parametrize("hubs", [1, pytest.param(10, marks=[pytest.mark.slow, pytest.mark.timeout(400)])])
def test_what_was_acknowledged_before_a_backup_is_in_what_it_restores(
    tmp_path: Path, hubs: int, say: Callable[[str], None]
) -> None:
    times = 2 if hubs == 1 else EACH
    operations = sum(backed_up(tmp_path / f"hub-{number}", times) for number in range(hubs))
    say(f"{hubs * times} backups of a working hub restored; {operations} operations meanwhile")


def backed_up(folder: Path, times: int) -> int:
    """One hub at work, saved and restored `times`; how many operations there were."""
    load = Load(random.Random(11))

    async def back_up(hub: Victim) -> None:
        await load.register(hub.port)
        working = asyncio.create_task(load.run(hub.port, steps=1_000_000))
        try:
            for number in range(times):
                load.history.call_after(50, (more := asyncio.Event()).set)
                await more.wait()
                at = load.history.tick()
                out, to = folder / f"backup-{number}", folder / f"restored-{number}" / "kxm.db"
                await asyncio.to_thread(kxm, hub, "backup", "--out", str(out))
                before = [as_of(at, op) for op in load.history.operations]
                (backup,) = out.iterdir()
                await asyncio.to_thread(kxm, hub, "restore", str(backup), KXM_DATA_PATH=str(to))
                assert await asyncio.to_thread(judged, to, before) == []
        finally:
            working.cancel()
            await asyncio.wait({working})

    with started(folder, command=PLAIN) as hub:
        asyncio.run(back_up(hub))
        assert hub.running
    return len(load.history.operations)


def judged(data: Path, operations: list[Operation]) -> list[str]:
    found = Found(rows=stored.rows(data), now_ms=now_ms())
    return stored.unsound(data) + violations(operations, found)
