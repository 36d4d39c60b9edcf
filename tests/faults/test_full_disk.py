"""R5 and R6: a full or read-only disk refuses sends with a code; reading goes on, and service resumes by itself."""

import asyncio
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from . import stored
from .history import Found, violations
from .kills import now_ms
from .script import Script
from .shim import FailingCalls, compiled
from .victim import PLAIN, Victim, started

BIG = "x" * 31_000
MOST = 2_000
RESUMES_WITHIN_S = 5.0


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 24 MB."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("a small disk needs root on Linux: it mounts a tmpfs")
    at = tmp_path / "small"
    at.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=24m", "tmpfs", at], check=True)
    yield at
    subprocess.run(["umount", at], check=True)


async def send_until_refused(script: Script) -> tuple[list[str], int, str]:
    """Ids of what was accepted, then status and code of the first refusal."""
    accepted: list[str] = []
    for number in range(MOST):
        answer = await script.asker.send("helper", f"{number} {BIG}", f"fill {number}")
        if answer.status >= 400:
            return accepted, answer.status, answer.code
        accepted.append(answer.json()["message"]["id"])
    raise AssertionError("the disk never became full")


async def resumes(script: Script) -> None:
    """A send is accepted again, soon and by the same process."""
    async with asyncio.timeout(RESUMES_WITHIN_S):
        attempt = 0
        while (await script.asker.send("helper", f"after {attempt}", None)).status != 202:
            attempt += 1


def judge(hub: Victim, script: Script, folder: Path) -> None:
    copy = stored.copied(hub.data, folder / "copy")
    assert stored.unsound(copy) == []
    assert violations(script.history.operations, Found(rows=stored.rows(copy), now_ms=now_ms())) == []


def test_a_full_disk_refuses_sends_and_resumes_when_there_is_room(tmp_path: Path, small_disk: Path) -> None:
    script = Script()
    ballast = small_disk / "ballast"
    ballast.write_bytes(bytes(8 << 20))

    async def fill_and_free() -> None:
        await script.register(hub.port)
        accepted, status, code = await send_until_refused(script)
        assert (status, code) in ((507, "storage_full"), (503, "storage_full"))
        assert (await script.helper.get(accepted[0])).status == 200
        assert {row.id for row in await script.helper.inbox()} >= set(accepted[-10:])
        taken = await script.helper.acknowledge(accepted[0])
        assert taken.status == 200, taken.body
        assert hub.running
        ballast.unlink()
        await resumes(script)

    with started(tmp_path, data=small_disk / "hub.db", settings={"KXM_QUEUE_LIMIT": "100000"}) as hub:
        asyncio.run(fill_and_free())
        assert hub.running
        judge(hub, script, tmp_path)


@pytest.mark.parametrize("kind", ["ENOSPC", "EROFS", "EIO"])
def test_while_no_write_succeeds_reads_go_on_and_service_resumes_by_itself(tmp_path: Path, kind: str) -> None:
    library = compiled("failing_calls", tmp_path)
    disk = FailingCalls(
        library=library, panel=tmp_path / "panel", path="hub.db", calls="write,ftruncate,open", kind=kind, sticky=True
    )
    script = Script()

    async def break_and_mend() -> None:
        await script.register(hub.port)
        await script.run(hub.port)
        before = next(op.message for op in script.history.operations if op.message is not None)
        disk.on()
        for number in range(20):
            answer = await script.asker.send("helper", f"refused {number}", f"refused {number}")
            assert answer.status in (503, 507), answer.body
            assert answer.code in ("storage_full", "storage_failed"), answer.body
            assert (await script.asker.get(before)).status == 200
        ready = await script.asker.connection.ask("GET", "/ready")
        assert ready.status == 503, ready.body
        assert hub.running
        disk.off()
        await resumes(script)
        assert (await script.asker.connection.ask("GET", "/ready")).status == 200

    with started(tmp_path, settings=disk.environment()) as hub:
        asyncio.run(break_and_mend())
        judge(hub, script, tmp_path)


def test_a_start_on_a_read_only_disk_says_one_line_and_ends(tmp_path: Path, small_disk: Path) -> None:
    with started(tmp_path, data=small_disk / "hub.db"):
        pass
    subprocess.run(["mount", "-o", "remount,ro", small_disk], check=True)
    hub = Victim(tmp_path / "state", small_disk / "hub.db", command=PLAIN)
    try:
        hub.launch()
        assert hub.first_line() == ""
        assert hub.ended() == 1
        (line,) = hub.errors().strip().splitlines()[-1:]
        assert "read-only" in line.lower() or "read only" in line.lower()
        assert "Traceback" not in hub.errors()
    finally:
        hub.kill()
        subprocess.run(["mount", "-o", "remount,rw", small_disk], check=True)
