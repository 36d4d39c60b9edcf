"""Several processes of one home, and processes that are killed: every post goes out once (N1 to N3)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from tests.network.nodes import Node, founded, node
from tests.network.remotes import BareRemote

_SEND = """
import json, os, signal, sys
from pathlib import Path
from tests.network.nodes import node
folder, remote, step, body = sys.argv[1:5]
def probe(at):
    if at == step:
        os.kill(os.getpid(), signal.SIGKILL)
anna = node(Path(folder), remote, "anna", "build", probe=probe)
if body == "sync":
    report = anna.engine.sync()
    print(json.dumps({"failed": report.failed, "items": len(anna.engine.inbox().items)}))
else:
    sent = anna.send(body, "bert")
    print(json.dumps({"id": sent.post.id, "delivery": sent.delivery, "reason": sent.reason}))
"""


def start(tmp_path: Path, remote: BareRemote, body: str, step: str = "") -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-c", _SEND, str(tmp_path), remote.url, step, body],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.fixture
def bert(tmp_path: Path, remote: BareRemote) -> Node:
    founded(remote, "anna", "bert")
    bert = node(tmp_path, remote, "bert", "build")
    bert.sync()
    return bert


def test_twelve_sends_of_one_home_at_once_all_go_out_once_without_a_false_error(
    bert: Node, tmp_path: Path, remote: BareRemote
) -> None:
    running = [start(tmp_path, remote, f"post {number}") for number in range(12)]
    ended = [process.communicate(timeout=110) for process in running]
    assert [(process.returncode, errors) for process, (_, errors) in zip(running, ended, strict=True)] == [(0, "")] * 12
    assert {json.loads(out)["delivery"] for out, _ in ended} <= {"pushed", "queued"}
    anna = node(tmp_path, remote, "anna", "build")
    anna.sync()
    bert.sync()
    assert sorted(bert.inbox()) == sorted(f"post {number}" for number in range(12))
    assert len(remote.files("room/build")) == 12
    assert remote.fsck() == ""


@pytest.mark.parametrize("step", ["queued", "built", "pushed", "noted"])
def test_a_send_that_is_killed_has_written_its_post_once(
    step: str, bert: Node, tmp_path: Path, remote: BareRemote
) -> None:
    killed = start(tmp_path, remote, "the post", step)
    assert killed.wait(60) == -9
    anna = node(tmp_path, remote, "anna", "build")
    bert.send("crossing", "anna")  # whatever the killed one had built lies on an old tip now
    anna.sync()
    anna.sync()
    bert.sync()
    assert bert.inbox() == ["the post"]
    assert anna.inbox() == ["crossing"]
    assert len(remote.files("room/build")) == 2
    assert anna.engine.waiting() == []
    assert remote.fsck() == ""


@pytest.mark.parametrize("step", ["looked", "fetched", "record", "batch", "examined"])
def test_a_sync_that_is_killed_loses_and_repeats_nothing(
    step: str, bert: Node, tmp_path: Path, remote: BareRemote
) -> None:
    for number in range(3):
        bert.send(f"for anna {number}", "anna")
    killed = start(tmp_path, remote, "sync", step)
    assert killed.wait(60) == -9
    anna = node(tmp_path, remote, "anna", "build")
    anna.sync()
    assert anna.inbox() == [f"for anna {number}" for number in range(3)]
    anna.engine.drain([item.post.id for item in anna.engine.inbox().items])
    anna.sync()
    assert anna.inbox() == []


def test_a_process_that_died_holding_the_lock_keeps_nobody_waiting(
    bert: Node, tmp_path: Path, remote: BareRemote
) -> None:
    assert start(tmp_path, remote, "first", "built").wait(60) == -9
    out, _ = start(tmp_path, remote, "second").communicate(timeout=60)
    assert json.loads(out)["delivery"] == "pushed"
    bert.sync()
    assert sorted(bert.inbox()) == ["first", "second"]
