"""R35: SIGTERM under load ends in time, a second one at once; a command whose reader is gone takes nothing."""

import asyncio
import os
import random
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from . import stored
from .history import Found, Outcome, violations
from .kills import now_ms
from .load import Load
from .peers import PROJECT
from .script import Script
from .victim import PLAIN, TOKEN, Victim, started

ENDS_WITHIN_S = 5.0
ANSWERS = 300
HONEST = {"hub_stopping"}


def under_load(hub: Victim, tell: signal.Signals, times: int) -> Load:
    """Work until the hub, told in the middle of it, is gone."""
    load = Load(random.Random(7))

    def stop() -> None:
        for _ in range(times):
            hub.process.send_signal(tell)

    async def work() -> None:
        await load.register(hub.port)
        load.history.call_after(ANSWERS, stop)
        await load.run(hub.port, steps=1_000_000)

    asyncio.run(work())
    return load


@pytest.mark.parametrize("tell", [signal.SIGTERM, signal.SIGINT])
def test_told_to_stop_under_load_it_ends_in_time_and_keeps_what_it_acknowledged(
    tmp_path: Path, tell: signal.Signals
) -> None:
    with started(tmp_path, command=PLAIN) as hub:
        load = under_load(hub, tell, 1)
        assert hub.ended(ENDS_WITHIN_S) == 0
        assert "Traceback" not in hub.errors()
    operations = load.history.operations
    assert sum(op.outcome is Outcome.DONE for op in operations) > ANSWERS // 2
    refused = {op.code for op in operations if op.status >= 500}
    assert refused <= HONEST
    copy = stored.copied(hub.data, tmp_path / "copy")
    assert stored.unsound(copy) == []
    assert violations(operations, Found(rows=stored.rows(copy), now_ms=now_ms())) == []


def test_told_twice_it_ends_at_once_and_still_keeps_what_it_acknowledged(tmp_path: Path) -> None:
    with started(tmp_path, command=PLAIN) as hub:
        load = under_load(hub, signal.SIGTERM, 2)
        hub.ended(ENDS_WITHIN_S)
    copy = stored.copied(hub.data, tmp_path / "copy")
    assert stored.unsound(copy) == []
    assert violations(load.history.operations, Found(rows=stored.rows(copy), now_ms=now_ms())) == []


def test_told_to_stop_with_waits_and_streams_open_it_ends_in_time(tmp_path: Path) -> None:
    async def waiting(hub: Victim) -> None:
        script = Script()
        await script.register(hub.port)
        sent = (await script.asker.send("helper", "task", None)).json()["message"]["id"]
        script.history.call_after(1, (pushed := asyncio.Event()).set)
        listening = asyncio.create_task(script.helper.listen())
        await pushed.wait()
        wait = asyncio.create_task(script.asker.wait(sent, 60_000))
        await asyncio.wait({wait}, timeout=0.2)  # so that the hub has read it; it is not answered meanwhile
        began = time.monotonic()
        hub.terminate()
        await asyncio.wait({listening, wait}, timeout=2 * ENDS_WITHIN_S)
        assert listening.done()
        assert wait.done()
        assert time.monotonic() - began <= ENDS_WITHIN_S
        assert wait.exception() is not None or wait.result().status in (200, 503)
        script.leave()

    with started(tmp_path, command=PLAIN) as hub:
        asyncio.run(waiting(hub))
        assert hub.ended(ENDS_WITHIN_S) == 0


@pytest.mark.parametrize("command", [("peer", "inbox"), ("peer", "list")], ids=" ".join)
def test_a_command_whose_reader_is_gone_fails_quietly_and_takes_nothing(
    tmp_path: Path, command: tuple[str, ...]
) -> None:
    script = Script()

    async def prepare(hub: Victim) -> str:
        await script.register(hub.port)
        sent = (await script.asker.send("helper", "x" * 10_000, None)).json()["message"]["id"]
        await script.helper.connection.ask("DELETE", f"/v1/agents/{script.helper.id}", None, script.helper.headers)
        script.leave()
        return str(sent)

    async def status(message: str) -> str:
        answer = await script.asker.get(message)
        script.leave()
        return str(answer.json()["message"]["status"])

    with started(tmp_path, command=PLAIN) as hub:
        sent = asyncio.run(prepare(hub))
        reading, writing = os.pipe()
        os.close(reading)
        environment = {
            **{name: value for name, value in os.environ.items() if not name.startswith("KXM_")},
            "KXM_STATE_HOME": str(tmp_path / "cli"),
            "KXM_SERVER_URL": f"http://127.0.0.1:{hub.port}",
            "KXM_AUTH_TOKEN": TOKEN,
            "KXM_PROJECT": PROJECT,
            "KXM_AGENT_NAME": "helper",
        }
        kxm = [sys.executable, "-m", "peerline.cli.hot", "kxm", *command]
        try:
            ended = subprocess.run(
                kxm, check=False, stdout=writing, stderr=subprocess.PIPE, env=environment, timeout=30
            )
        finally:
            os.close(writing)
        assert ended.returncode != 0
        assert b"Traceback" not in ended.stderr
        assert asyncio.run(status(sent)) == "queued"
