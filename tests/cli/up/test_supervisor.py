"""The supervisor, with real child processes that are told to end."""

import os
import queue
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from peerline.cli.up.parts import HUB, Part
from peerline.cli.up.supervisor import ELSEWHERE, RUNNING, STOPPED, WAITING, Standing, Supervisor
from peerline.worker.restarts import Restarts

LIVES = "import signal, sys; open(sys.argv[1], 'w').write(str(__import__('os').getpid())); signal.pause()"
ENDS = "raise SystemExit(3)"
DEAF = "import signal; signal.signal(signal.SIGTERM, signal.SIG_IGN); " + LIVES + "\nwhile True: signal.pause()"


class Quick(Restarts):
    """Counts as it does, and waits for nothing."""

    def ended(self, uptime: int) -> int | None:
        super().ended(uptime)
        return 0


def a_part(tmp: Path, name: str, program: str = LIVES) -> Part:
    note = tmp / f"{name}.pid"

    def runs() -> int | None:
        try:
            pid = int(note.read_text())
            os.kill(pid, 0)
        except (OSError, ValueError):
            return None
        return pid

    command = (sys.executable, "-c", program, str(note))
    return Part(name=name, command=command, env=lambda: dict(os.environ), log=tmp / f"{name}.log", runs=runs)


class Told:
    """What the supervisor said of its parts, in order."""

    def __init__(self) -> None:
        self._lines: queue.Queue[list[Standing]] = queue.Queue()

    def __call__(self, standings: list[Standing]) -> None:
        self._lines.put(standings)

    def until(self, name: str, state: str, so: Callable[[Standing], bool] = lambda one: True) -> Standing:
        while True:
            for one in self._lines.get(timeout=30):
                if one.name == name and one.state == state and so(one):
                    return one


@contextmanager
def supervised(parts: Callable[[], list[Part]], **given: object) -> Iterator[Told]:
    told, ended = Told(), threading.Event()
    supervisor = Supervisor(parts, told, now=lambda: time.time_ns() // 1_000_000, pauses=lambda: Quick(None), **given)  # type: ignore[arg-type]
    thread = threading.Thread(target=supervisor.run, args=(ended,))
    thread.start()
    try:
        yield told
    finally:
        ended.set()
        thread.join(30)
        assert not thread.is_alive()


def test_what_is_killed_is_started_again_and_said_to_have_been(tmp_path: Path) -> None:
    part = a_part(tmp_path, "one")
    with supervised(lambda: [part]) as told:
        first = told.until("one", RUNNING)
        assert first.pid is not None
        os.kill(first.pid, signal.SIGKILL)
        again = told.until("one", RUNNING, lambda one: one.pid != first.pid)
        assert (again.restarts, again.ended) == (1, "ended by signal 9")
    assert part.runs() is None


def test_what_ends_by_itself_waits_longer_each_time(tmp_path: Path) -> None:
    with supervised(lambda: [a_part(tmp_path, "one", ENDS)]) as told:
        assert told.until("one", WAITING, lambda one: one.restarts == 3).ended == "ended with exit code 3"
    pauses = Restarts(None)
    assert [pauses.ended(0) for _ in range(7)] == [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000]


def test_what_another_runs_is_left_alone_and_taken_over_when_it_ends(tmp_path: Path) -> None:
    part = a_part(tmp_path, "one")
    (tmp_path / "one.pid").write_text(str(os.getpid()))
    with supervised(lambda: [part]) as told:
        found = told.until("one", ELSEWHERE)
        assert (found.pid, found.ours) == (os.getpid(), False)
        (tmp_path / "one.pid").unlink()
        assert told.until("one", RUNNING).ours is True


def test_what_a_killed_supervisor_had_started_is_ours_still(tmp_path: Path) -> None:
    (tmp_path / "one.pid").write_text(str(os.getpid()))
    with supervised(lambda: [a_part(tmp_path, "one")], inherited=[os.getpid()]) as told:
        assert told.until("one", ELSEWHERE).ours is True


def test_a_part_that_comes_later_is_started_without_a_new_supervisor(tmp_path: Path) -> None:
    parts = [a_part(tmp_path, "one")]
    with supervised(lambda: parts) as told:
        told.until("one", RUNNING)
        parts.append(a_part(tmp_path, "two"))
        told.until("two", RUNNING)


def test_the_hub_is_there_before_what_needs_it_and_ends_last(tmp_path: Path) -> None:
    seen: list[tuple[str, str]] = []
    hub, other = a_part(tmp_path, HUB), a_part(tmp_path, "other")
    told, ended = Told(), threading.Event()

    def tell(standings: list[Standing]) -> None:
        seen.extend((one.name, one.state) for one in standings if one.state in (RUNNING, STOPPED))
        told(standings)

    supervisor = Supervisor(lambda: [hub, other], tell, now=lambda: 0, pauses=lambda: Quick(None))
    thread = threading.Thread(target=supervisor.run, args=(ended,))
    thread.start()
    told.until("other", RUNNING)
    ended.set()
    thread.join(30)
    assert seen[0] == (HUB, RUNNING)
    assert list(dict.fromkeys(each for each in seen if each[1] == STOPPED)) == [("other", STOPPED), (HUB, STOPPED)]


def test_a_part_that_can_not_be_started_says_why(tmp_path: Path) -> None:
    part = a_part(tmp_path, "one")
    broken = Part(name="one", command=("/nowhere/program",), env=part.env, log=part.log, runs=part.runs)
    with supervised(lambda: [broken]) as told:
        assert told.until("one", WAITING).ended == "could not be started: No such file or directory"


def test_a_log_is_private_and_a_link_in_its_place_is_not_followed(tmp_path: Path) -> None:
    part = a_part(tmp_path, "one")
    with supervised(lambda: [part]) as told:
        told.until("one", RUNNING)
    assert part.log.stat().st_mode & 0o077 == 0
    part.log.unlink()
    part.log.symlink_to(tmp_path / "elsewhere")
    with supervised(lambda: [part]) as told:
        assert "could not be started" in told.until("one", WAITING).ended
    assert not (tmp_path / "elsewhere").exists()


def test_a_part_that_does_not_listen_is_ended_by_force(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peerline.cli.up.supervisor.END_S", 0.2)
    part = a_part(tmp_path, "one", DEAF)
    with supervised(lambda: [part]) as told:
        told.until("one", RUNNING)
    assert part.runs() is None
