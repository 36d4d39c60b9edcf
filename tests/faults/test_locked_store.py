"""R12: another process locks the store, or reads it for ever: the hub waits, refuses with a code, stops growing."""

import asyncio
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from . import stored
from .history import Found, violations
from .kills import now_ms
from .script import Script
from .victim import PLAIN, Victim, started

HOLDER = """
import sys, apsw
connection = apsw.Connection(sys.argv[1])
connection.execute(sys.argv[2]).fetchall()
connection.execute("SELECT count(*) FROM message").fetchall()
print("held", flush=True)
sys.stdin.readline()
"""
WAL_LIMIT = 64 << 20


@contextmanager
def held(data: Path, begin: str) -> Iterator[subprocess.Popen[str]]:
    """Another process inside a transaction until its input ends."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER, str(data), begin], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    assert process.stdin is not None
    assert process.stdout is not None
    try:
        assert process.stdout.readline() == "held\n"
        yield process
    finally:
        process.stdin.close()
        process.wait(10)
        process.stdout.close()


def judge(hub: Victim, script: Script, folder: Path) -> None:
    copy = stored.copied(hub.data, folder / "copy")
    assert stored.unsound(copy) == []
    assert violations(script.history.operations, Found(rows=stored.rows(copy), now_ms=now_ms())) == []


def log_bytes(hub: Victim) -> int:
    return Path(f"{hub.data}-wal").stat().st_size


@pytest.mark.parametrize("seconds", [1, pytest.param(4, marks=pytest.mark.slow)])
def test_a_short_lock_is_waited_for(tmp_path: Path, seconds: float) -> None:
    script = Script()

    async def work() -> None:
        await script.register(hub.port)
        with held(hub.data, "BEGIN IMMEDIATE"):
            sending = asyncio.create_task(script.asker.send("helper", "patience", "k"))
            done, _ = await asyncio.wait({sending}, timeout=seconds)
            assert not done
        assert (await sending).status == 202

    with started(tmp_path) as hub:
        asyncio.run(work())
        judge(hub, script, tmp_path)


def test_a_long_lock_is_refused_as_busy_and_leaves_no_row(tmp_path: Path) -> None:
    script = Script()

    async def work() -> None:
        await script.register(hub.port)
        with held(hub.data, "BEGIN IMMEDIATE"):
            answer = await script.asker.send("helper", "no patience", "k")
            assert (answer.status, answer.code) == (503, "busy")
            assert int(answer.headers["retry-after"]) >= 1
            judge(hub, script, tmp_path)
        assert (await script.asker.send("helper", "no patience", "k")).status == 202

    with started(tmp_path) as hub:
        asyncio.run(work())
        judge(hub, script, tmp_path)


@pytest.mark.slow
def test_a_forgotten_reader_stops_growth_at_64_mb_and_service_resumes_without_it(tmp_path: Path) -> None:
    script = Script()
    body = "x" * 31_000

    async def work() -> None:
        await script.register(hub.port)
        with held(hub.data, "BEGIN"):
            for number in range(4_000):
                answer = await script.asker.send("helper", f"{number} {body}", None)
                if answer.status != 202:
                    break
            assert (answer.status, answer.code) == (503, "busy")
            assert log_bytes(hub) <= WAL_LIMIT
            inbox = await script.helper.inbox()
            assert len(inbox) == number
        async with asyncio.timeout(15):
            while (await script.asker.send("helper", "again", None)).status != 202:
                pass
        assert log_bytes(hub) <= WAL_LIMIT

    with started(tmp_path, command=PLAIN, settings={"KXM_QUEUE_LIMIT": "100000"}) as hub:
        asyncio.run(work())
        judge(hub, script, tmp_path)
        assert "write_ahead_log_held" in "".join(log.read_text() for log in hub.state.rglob("*.jsonl"))
