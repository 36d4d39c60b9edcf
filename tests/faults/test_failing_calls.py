"""R4: whichever call on the disk fails, nothing is acknowledged that is not stored, and nobody sees a traceback."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from . import stored
from .connection import Connection, Gone
from .history import Found, violations
from .kills import now_ms
from .script import Script
from .shim import FailingCalls, compiled
from .victim import PLAIN, Victim

KINDS = ("EIO", "ENOSPC", "EROFS", "EINTR", "SHORT")
ENDS_WITHIN_S = 1.0
LOG_BYTES_MOST = 64 << 20
LOG_FULL_AFTER = 3_000
RESUMES_WITHIN_S = 15.0


class Sweep:
    """One hub after another, on one store: `fails` lets the n-th call fail for n = 1, 2, … until a run is clean."""

    def __init__(self, folder: Path, calls: str, kind: str, sticky: bool) -> None:
        library = compiled("failing_calls", folder)
        self.calls = FailingCalls(
            library=library, panel=folder / "panel", path="hub.db", calls=calls, kind=kind, sticky=sticky
        )
        self.hub = Victim(folder / "state", folder / "hub.db", settings=self.calls.environment())
        self.folder = folder
        self.script = Script()
        self.ends = 0

    def begin(self) -> None:
        self.hub.start()
        asyncio.run(self._register())

    async def _register(self) -> None:
        await self.script.register(self.hub.port)
        self.script.leave()

    def fails(self, nth: int) -> bool:
        """One run of the script in which the n-th call fails; False when it has fewer calls."""
        if not self.hub.running:
            self.hub.start()
        self.calls.on(nth)
        asyncio.run(self.script.run(self.hub.port))
        reached = self.calls.failed > 0
        self.calls.off()
        assert self.script.dishonest() == []
        if self.calls.calls == "fsync" and reached:
            # Whatever the reason: what was written is unknown now, and a second fsync may lie.
            assert self.hub.ended(ENDS_WITHIN_S) not in (0, -9)
            self.ends += 1
        self.judge()
        return reached

    def judge(self) -> None:
        copy = stored.copied(self.hub.data, self.folder / "copy")
        assert stored.unsound(copy) == []
        found = Found(rows=stored.rows(copy), now_ms=now_ms())
        assert violations(self.script.history.operations, found) == []

    def works(self) -> None:
        """With the disk well again the hub serves: by itself, or after a start if it had to end."""
        if not self.hub.running:
            self.hub.start()
        before = len(self.script.answers)
        asyncio.run(self.script.run(self.hub.port))
        later = self.script.answers[before:]
        assert later
        assert [answer.status for answer in later if answer.status >= 400] == []
        self.judge()


@pytest.fixture
def sweep(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Sweep]:
    sweep = Sweep(tmp_path, *request.param)
    yield sweep
    sweep.hub.kill()


CASES = [
    (calls, kind, sticky)
    for calls, kind, sticky in itertools.product(("write", "fsync"), KINDS, (False, True))
    if not (kind == "EINTR" and sticky)  # no system interrupts for ever, and SQLite rightly tries again
    and not (calls != "write" and kind == "SHORT")
]
QUICK = [("write", "ENOSPC", False), ("fsync", "EIO", False)]


@pytest.mark.parametrize("sweep", QUICK, indirect=True, ids=str)
@pytest.mark.parametrize("nth", [1])
def test_a_call_that_fails_under_work_is_answered_honestly(sweep: Sweep, nth: int) -> None:
    sweep.begin()
    assert sweep.fails(nth)
    sweep.works()


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize("sweep", CASES, indirect=True, ids=str)
def test_whichever_call_fails_nothing_false_is_acknowledged(sweep: Sweep, say: Callable[[str], None]) -> None:
    sweep.begin()
    runs = next(nth for nth in itertools.count(1) if not sweep.fails(nth))
    sweep.works()
    say(f"{runs - 1} calls failed in turn, {sweep.script.gone} requests without an answer, {sweep.ends} ends")


@pytest.mark.slow
@pytest.mark.timeout(300)
@pytest.mark.parametrize(
    ("calls", "kind"),
    [("write", "ENOSPC"), *itertools.product(("open", "unlink", "fsync", "ftruncate"), ("EIO", "EROFS"))],
)
def test_a_start_on_a_failing_disk_works_or_ends_with_one_line(
    tmp_path: Path, calls: str, kind: str, say: Callable[[str], None]
) -> None:
    library = compiled("failing_calls", tmp_path)
    failing = FailingCalls(library=library, panel=tmp_path / "panel", path=str(tmp_path), calls=calls, kind=kind)
    ends = 0
    for nth in itertools.count(1):
        home = tmp_path / f"start-{nth}"
        hub = Victim(home / "state", home / "hub.db", command=PLAIN, settings=failing.environment())
        home.mkdir()
        failing.on(nth)
        try:
            hub.launch()
            line = hub.first_line()
            if not line:
                ends += 1
                assert hub.ended() not in (0, -9), hub.errors()
                assert "Traceback" not in hub.errors()
                assert len(hub.errors().strip().splitlines()) == 1, hub.errors()
            reached = failing.failed > 0
        finally:
            failing.off()
            hub.kill()
        if not reached:
            break
    say(f"{nth - 1} calls failed in turn, {ends} starts refused")


async def resumes(port: int, script: Script) -> None:
    script.asker.connection = Connection(port)
    async with asyncio.timeout(RESUMES_WITHIN_S):
        while (await script.asker.send("helper", "again", None)).status != 202:
            pass
    script.leave()


@pytest.mark.slow
@pytest.mark.timeout(180)
@pytest.mark.parametrize(
    ("calls", "kind"), [("write", "EIO"), ("write", "ENOSPC"), ("fsync", "EIO"), ("ftruncate", "EIO")]
)
def test_while_the_log_cannot_be_moved_into_the_file_nothing_is_lost_and_the_log_stays_bounded(
    tmp_path: Path, calls: str, kind: str, say: Callable[[str], None]
) -> None:
    library = compiled("failing_calls", tmp_path)
    failing = FailingCalls(
        library=library, panel=tmp_path / "panel", path="/hub.db$", calls=calls, kind=kind, sticky=True
    )
    hub = Victim(
        tmp_path / "state", tmp_path / "hub.db", settings={**failing.environment(), "KXM_QUEUE_LIMIT": "100000"}
    )
    script = Script()

    async def fill() -> tuple[int, int]:
        """How many sends were accepted, and the status of the first that was not."""
        await script.register(hub.port)
        failing.on()
        try:
            for number in range(LOG_FULL_AFTER):
                answer = await script.asker.send("helper", f"{number} " + "x" * 31_000, f"fill {number}")
                if answer.status != 202:
                    assert answer.code in ("storage_failed", "storage_full"), answer.body
                    return number, answer.status
        except Gone:
            return number, 0
        finally:
            script.leave()
        return LOG_FULL_AFTER, 202

    try:
        hub.start()
        accepted, status = asyncio.run(fill())
        log = Path(f"{hub.data}-wal").stat().st_size
        met = failing.failed
        failing.off()
        assert met > 0
        assert status in (0, 202, 503, 507)
        assert log <= LOG_BYTES_MOST
        if calls == "fsync":
            assert hub.ended(ENDS_WITHIN_S) not in (0, -9)
        else:
            asyncio.run(resumes(hub.port, script))
        hub.kill()
        copy = stored.copied(hub.data, tmp_path / "copy")
        assert stored.unsound(copy) == []
        assert violations(script.history.operations, Found(rows=stored.rows(copy), now_ms=now_ms())) == []
    finally:
        hub.kill()
    say(f"{accepted} sends accepted, then {status}; log {log >> 20} MB; {met} calls failed")
