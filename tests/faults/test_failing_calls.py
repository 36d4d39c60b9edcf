"""R4: whichever call on the disk fails, nothing is acknowledged that is not stored, and nobody sees a traceback."""

import asyncio
import itertools
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from . import stored
from .history import Found, violations
from .kills import now_ms
from .script import Script
from .shim import FailingCalls, compiled
from .victim import PLAIN, Victim

KINDS = ("EIO", "ENOSPC", "EROFS", "EINTR", "SHORT")
ENDS_WITHIN_S = 1.0


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
