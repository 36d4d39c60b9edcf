"""Nothing lost where many write at once; each figure is that of the promise (R20 and the network's own part)."""

import json
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from tests.network.nodes import Node, founded, node
from tests.network.remotes import BareRemote

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]


def test_ten_posts_that_cross_ten_sends_are_all_delivered(tmp_path: Path, remote: BareRemote) -> None:
    founded(remote, "anna", "bert")
    anna, bert = (node(tmp_path, remote, name, "build") for name in ("anna", "bert"))
    anna.sync()
    bert.sync()
    for number in range(10):
        anna.send(f"a{number}", "bert")
        bert.send(f"b{number}", "anna")
        bert.sync()
    anna.sync()
    assert bert.inbox() == [f"a{number}" for number in range(10)]
    assert anna.inbox() == [f"b{number}" for number in range(10)]


def test_two_that_chat_and_sync_at_the_same_time_get_thirty_of_thirty(tmp_path: Path, remote: BareRemote) -> None:
    founded(remote, "anna", "bert")
    pair = [node(tmp_path, remote, name, "build") for name in ("anna", "bert")]
    _together([lambda one=one, other=other: _chat(one, other, 15) for one, other in (pair, pair[::-1])])
    for one, other in (pair, pair[::-1]):
        one.sync()
        one.sync()
        assert one.inbox() == [f"{other.agent} {number}" for number in range(15)]
    assert remote.fsck() == ""


def test_six_agents_writing_at_once_get_240_of_240(tmp_path: Path, remote: BareRemote) -> None:
    names = [f"agent-{number}" for number in range(6)]
    founded(remote, *names)
    nodes = [node(tmp_path, remote, name, "build") for name in names]
    _together([lambda one=one: _write(one, names, 8) for one in nodes])
    for one in nodes:
        one.engine.flush()
    got = 0
    for one in nodes:
        one.sync()
        items = one.inbox()
        assert len(set(items)) == len(items)
        got += len(items)
    assert got == 240  # 6 agents, 8 posts each, 5 readers
    assert remote.fsck() == ""


def test_twenty_nodes_get_a_thousand_of_a_thousand_once(tmp_path: Path, remote: BareRemote) -> None:
    names = [f"node-{number:02}" for number in range(20)]
    founded(remote, *names)
    began = time.monotonic()
    killed = {"node-03": 20, "node-11": 35}
    running = {name: _start(tmp_path, remote, name, killed.get(name, -1)) for name in names}
    try:
        for name in killed:
            assert running[name].wait(180) == -9
            running[name] = _start(tmp_path, remote, name, -1)
        results = {name: json.loads(process.communicate(timeout=450)[0]) for name, process in running.items()}
    finally:
        for process in running.values():
            process.kill()
    took = time.monotonic() - began
    wanted = sorted(f"{name} {number}" for name in names for number in range(50))
    for name, result in results.items():
        assert result["waiting"] == 0
        assert sorted(result["history"]) == wanted
        assert sorted(result["inbox"]) == [text for text in wanted if not text.startswith(f"{name} ")]
    assert len(remote.files("room/build")) == 1_000
    assert remote.fsck() == ""
    assert not list(tmp_path.rglob("index.lock"))
    print(f"1,000 of 1,000 at 20 nodes in {took:.0f} s (promised: 180 s on two free cores)")


def _start(tmp_path: Path, remote: BareRemote, name: str, die_after: int) -> subprocess.Popen[str]:
    offset = "-3600000" if name == "node-07" else "0"
    words = [str(tmp_path), remote.url, name, "50", "1000", offset, str(die_after)]
    return subprocess.Popen(
        [sys.executable, "-m", "tests.network.swarm_node", *words], stdout=subprocess.PIPE, text=True
    )


def _chat(one: Node, other: Node, count: int) -> None:
    for number in range(count):
        one.send(f"{one.agent} {number}", other.agent)
        if number % 3 == 0:
            one.engine.sync()


def _write(one: Node, names: list[str], count: int) -> None:
    for number in range(count):
        one.send(f"{one.agent} {number}", *(name for name in names if name != one.agent))


def _together(works: list) -> None:  # type: ignore[type-arg]
    failed: list[BaseException] = []

    def run(work) -> None:  # type: ignore[no-untyped-def]
        try:
            work()
        except BaseException as error:
            failed.append(error)

    threads = [threading.Thread(target=run, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert failed == []
