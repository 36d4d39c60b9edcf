"""What a worker keeps, and who may be it."""

import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from peerline.cli.hot_identity import read_object
from peerline.cli.hot_paths import private_write
from peerline.client.records import Agent, Registered
from peerline.worker import leftovers
from peerline.worker.binding import ANSWERS, Binding
from peerline.worker.claim import AlreadyManaged, Claim
from peerline.worker.files import Files, worker_key
from peerline.worker.seat import Seat
from tests.worker.records import asked

RUNS = [f"run_{number:032x}" for number in range(4)]
ABOUT = {"pid": os.getpid(), "startedAt": "2026-01-01T10:00:00.000Z"}


@pytest.fixture
def files(tmp_path: Path) -> Files:
    return Files(root=tmp_path, key=worker_key("shop", "builder"), write=private_write, read=read_object)


def binding(files: Files, harness: str = "pi", *, max_runs: int = 8, now: Callable[[], int] = lambda: 7) -> Binding:
    return Binding(files, harness, max_runs=max_runs, now=now)


def test_a_key_is_readable_and_two_names_that_look_alike_have_two() -> None:
    assert worker_key("shop", "builder").startswith("shop-builder-")
    assert worker_key("s/p", "b d") != worker_key("s_p", "b_d")
    assert "/" not in worker_key("../..", "a/b")
    assert len(worker_key("p" * 128, "n" * 64)) == 24 + 1 + 32 + 1 + 24


def test_sessions_and_answers_are_there_for_the_next_worker(files: Files) -> None:
    first = binding(files)
    first.bind("default", "session one")
    first.keep_answer(["msg_1", "msg_2"], "yes")
    first.sent("msg_2")
    second = binding(files)
    assert (second.session("default"), second.answer("msg_1"), second.answer("msg_2")) == ("session one", "yes", None)
    assert files.binding.stat().st_mode & 0o777 == 0o600


def test_sessions_of_another_harness_are_not_resumed_but_answers_are_sent(files: Files) -> None:
    first = binding(files)
    first.bind("default", "session one")
    first.keep_answer(["msg_1"], "yes")
    other = binding(files, "codex")
    assert (other.session("default"), other.answer("msg_1")) == (None, "yes")


def test_beyond_the_limit_the_run_that_was_used_longest_ago_goes_and_never_the_default(files: Files) -> None:
    clock = iter(range(100))
    kept = binding(files, max_runs=2, now=lambda: next(clock))
    assert [kept.bind(scope, scope) for scope in ("default", RUNS[0], RUNS[1])] == [[], [], []]
    kept.bind(RUNS[0], RUNS[0])
    assert kept.bind(RUNS[2], RUNS[2]) == [RUNS[1]]
    assert [kept.session(scope) for scope in ("default", RUNS[0], RUNS[1])] == ["default", RUNS[0], None]


def test_a_binding_that_cannot_be_read_is_set_aside(files: Files) -> None:
    files.binding.write_bytes(b"{ not json")
    files.binding.chmod(0o600)
    fresh = binding(files)
    assert fresh.session("default") is None
    assert fresh.set_aside == files.binding.with_name(files.binding.name + ".corrupt-7")
    assert fresh.set_aside.read_bytes() == b"{ not json"


def test_answers_are_bounded(files: Files) -> None:
    kept = binding(files)
    for number in range(ANSWERS + 1):
        kept.keep_answer([f"msg_{number}"], "x")
    assert (kept.answer("msg_0"), kept.answer(f"msg_{ANSWERS}")) == (None, "x")


def test_of_two_workers_with_one_key_the_second_is_refused_and_says_who_is_there(files: Files) -> None:
    first = Claim(files, pause=_never)
    assert first.take(ABOUT) is None
    with pytest.raises(AlreadyManaged, match=f"PID {os.getpid()}"):
        Claim(files, pause=_never).take(ABOUT)
    first.release()
    second = Claim(files, pause=_never)
    assert second.take(ABOUT) is None
    second.release()
    assert not files.claim.exists()


def test_a_harness_that_outlived_its_worker_is_ended_before_the_next_one_starts(files: Files) -> None:
    first = Claim(files, pause=_never)
    first.take(ABOUT)
    harness = subprocess.Popen(
        [sys.executable, "-c", "import sys; sys.stdin.read()"],
        stdin=subprocess.PIPE,
        pass_fds=(first.inherited,),
        start_new_session=True,
    )
    first.child(harness.pid)
    # As `kill -9` leaves it: the worker's own descriptors close, and nothing is removed.
    os.close(first._child)
    os.close(first._claim)
    pauses: list[float] = []

    def pause(seconds: float) -> None:
        pauses.append(seconds)
        harness.wait(20)  # the system closes its lock with it

    second = Claim(files, pause=pause)
    orphan = second.take(ABOUT)
    assert orphan is not None
    assert (orphan.pid, harness.wait(20)) == (harness.pid, -9)
    assert len(pauses) <= 1
    second.release()


def test_a_process_that_only_has_the_number_of_the_old_harness_is_left_alone(files: Files) -> None:
    bystander = subprocess.Popen([sys.executable, "-c", "import sys; sys.stdin.read()"], stdin=subprocess.PIPE)
    files.child.write_text(json.dumps({"pid": bystander.pid, "started": "1"}))
    claim = Claim(files, pause=_never)
    assert claim.take(ABOUT) is None
    assert bystander.poll() is None
    claim.release()
    bystander.communicate()


def test_only_a_control_file_with_this_start_asks_this_worker_to_stop(files: Files) -> None:
    claim = Claim(files, pause=_never)
    claim.take(ABOUT)
    assert not claim.stop_asked
    private_write(str(files.control), b'{"startedAt": "2025-01-01T10:00:00.000Z"}')
    assert not claim.stop_asked
    private_write(str(files.control), json.dumps(ABOUT).encode())
    assert claim.stop_asked
    claim.release()
    assert not files.control.exists()


def test_the_seat_tells_the_furthest_request_at_hand_and_is_private(files: Files) -> None:
    seat = Seat(files, url="http://127.0.0.1:1", project="shop")
    seat.prepare("builder")
    seat.at_work_on([])
    told: dict[str, Any] = json.loads(files.seat.read_bytes())
    assert told["name"] == "builder"
    assert "agentKey" not in told, "nobody can act as an agent that is not registered"
    seat.registered(Registered(agent=Agent(id="agt_1", name="builder", project="shop"), agent_key="key_1"))
    seat.at_work_on([asked(1, hops=1), asked(2, hops=3, path=["agt_9"])])
    told = json.loads(files.seat.read_bytes())
    assert (told["agentId"], told["agentKey"], told["name"]) == ("agt_1", "key_1", "builder")
    assert told["active"] == {"id": "msg_2", "from": "agt_1", "hops": 3, "maxHops": 5, "path": ["agt_9"]}
    assert files.seat.stat().st_mode & 0o777 == 0o600
    seat.at_work_on([])
    assert json.loads(files.seat.read_bytes())["active"] is None
    seat.remove()
    assert not files.seat.exists()


def _never(seconds: float) -> None:
    raise AssertionError("nothing has to be waited for")


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux shows the environment of a process")
def test_a_tool_that_left_its_harness_is_found_by_its_seat_and_ended_and_others_are_left_alone(tmp_path: Path) -> None:
    seat, other = str(tmp_path / "seat.json"), str(tmp_path / "seat.json.2")
    tool, bystander = [
        subprocess.Popen(
            [sys.executable, "-c", "print(flush=True); input()"],
            env={**os.environ, "KXM_WORKER_SEAT": each},
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            start_new_session=True,
        )
        for each in (seat, other)
    ]
    for process in (tool, bystander):
        assert process.stdout is not None
        process.stdout.readline()
    assert leftovers.end(seat) == [tool.pid]
    assert (tool.wait(20), bystander.poll()) == (-9, None)
    assert leftovers.end(seat) == []
    for process in (tool, bystander):
        process.communicate(b"\n")
