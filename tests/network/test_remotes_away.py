"""Remotes that refuse, hang, go, or come back with another past (R18, R19)."""

import random
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from peerline.network.git.runner import Limits
from tests.network.nodes import Node, environment, founded, node, written
from tests.network.remotes import BareRemote


@pytest.fixture
def pair(tmp_path: Path, remote: BareRemote) -> tuple[Node, Node]:
    founded(remote, "anna", "bert")
    anna, bert = (node(tmp_path, remote, name, "build") for name in ("anna", "bert"))
    anna.sync()
    bert.sync()
    return anna, bert


def test_a_hook_that_refuses_half_of_all_pushes_loses_and_doubles_nothing(
    pair: tuple[Node, Node], remote: BareRemote, tmp_path: Path
) -> None:
    anna, bert = pair
    chance = random.Random(7)
    refused = tmp_path / "refused"
    remote.hook("pre-receive", f"if [ -e {refused} ]; then printf 'no\\033[31m today\\n' >&2; exit 1; fi")
    delivered = {"pushed": 0, "queued": 0}
    for number in range(8):
        refused.unlink(missing_ok=True)
        if chance.random() < 0.5:
            refused.touch()
        sent = anna.send(f"post {number}", "bert")
        delivered[sent.delivery] += 1
        if sent.delivery == "queued":
            assert sent.reason is not None
            assert "no⟨U+001B⟩[31m today" in sent.reason
            assert anna.engine.waits(sent.post.id) is not None
    assert delivered["queued"] > 0
    assert delivered["pushed"] > 0
    refused.unlink(missing_ok=True)
    anna.sync()
    bert.sync()
    assert bert.inbox() == [f"post {number}" for number in range(8)]
    assert len(remote.files("room/build")) == 8
    assert anna.engine.waiting() == []


def test_a_remote_that_hangs_costs_the_limit_and_the_post_waits(tmp_path: Path, remote: BareRemote) -> None:
    founded(remote, "anna", "bert")
    anna = node(tmp_path, remote, "anna", "build", limits=Limits(network_s=1.0))
    anna.sync()
    remote.hook("pre-receive", "exec sleep 1000")
    assert anna.engine.flush().left == 0  # nothing waits: nobody is talked to
    sent = anna.engine.send(written("hm", "bert"), push=False)
    assert sent.delivery == "queued"
    flushed = anna.engine.flush()
    assert flushed.left == 1
    assert "longer than 1 s" in (flushed.reason or "")
    remote.no_hook("pre-receive")
    anna.sync()
    assert anna.engine.waits(sent.post.id) is None


class SilentServer:
    """Takes connections and says nothing: a host behind a broken network."""

    def __init__(self) -> None:
        self._listening = socket.create_server(("127.0.0.1", 0))
        self.port = self._listening.getsockname()[1]
        self._taken: list[socket.socket] = []
        threading.Thread(target=self._take, daemon=True).start()

    def _take(self) -> None:
        while True:
            try:
                self._taken.append(self._listening.accept()[0])
            except OSError:
                return

    def close(self) -> None:
        self._listening.close()
        for taken in self._taken:
            taken.close()


@pytest.fixture
def silence() -> Iterator[SilentServer]:
    server = SilentServer()
    yield server
    server.close()


@pytest.mark.parametrize("form", ["https://127.0.0.1:{}/net.git", "ssh://git@127.0.0.1:{}/net.git"])
def test_a_host_that_takes_the_connection_and_says_nothing_is_given_up(
    tmp_path: Path, silence: SilentServer, form: str
) -> None:
    anna = node(tmp_path, form.format(silence.port), "anna", "build", limits=Limits(network_s=1.0))
    report = anna.engine.sync()
    assert report.failed is not None
    assert "longer than 1 s" in report.failed or "does not answer" in report.failed
    assert anna.engine.health().failing_since is not None
    assert anna.inbox() == []


@pytest.mark.parametrize(
    ("complaint", "said"),
    [
        ("git@host: Permission denied (publickey).", "does not let us in"),
        ("Host key verification failed.", "does not let us in"),
        ("ssh: connect to host example.test port 22: Connection refused", "does not answer"),
        ("\033]0;owned\007ERROR: Repository not found.", "Repository not found"),
    ],
)
def test_what_ssh_complains_of_is_said_on_one_plain_line_and_the_post_waits(
    tmp_path: Path, complaint: str, said: str
) -> None:
    ssh = tmp_path / "ssh"
    (tmp_path / "complaint").write_text(complaint)
    ssh.write_text(f"#!/bin/sh\ncat {tmp_path / 'complaint'} >&2\nexit 255\n")
    ssh.chmod(0o755)
    anna = node(tmp_path, "git@example.test:net.git", "anna", "build")
    (tmp_path / "anna" / ".gitconfig").write_text(f"[core]\n\tsshCommand = {ssh}\n[ssh]\n\tvariant = ssh\n")
    sent = anna.send("waits")
    assert sent.delivery == "queued"
    assert said in (sent.reason or "")
    assert (sent.reason or "").isprintable()
    assert anna.engine.sync().queued == 1


def test_the_first_failure_is_remembered_until_a_sync_succeeds(
    pair: tuple[Node, Node], remote: BareRemote, tmp_path: Path
) -> None:
    anna, _ = pair
    remote.path.rename(tmp_path / "away")
    anna.engine.sync()
    since = anna.engine.health().failing_since
    anna.engine.sync()
    health = anna.engine.health()
    assert since is not None
    assert (health.failing_since, health.degraded) == (since, True)
    (tmp_path / "away").rename(remote.path)
    anna.sync()
    assert anna.engine.health().failing_since is None


def test_a_rewritten_room_is_told_and_loses_and_repeats_nothing(pair: tuple[Node, Node], remote: BareRemote) -> None:
    anna, bert = pair
    base = remote.tip("room/build")
    anna.send("anna 0", "bert")
    bert.send("bert 0", "anna")
    anna.sync()
    bert.sync()
    kept = {path: data for path, data in remote.files("room/build").items() if "-bert-" in path}
    remote.sh("update-ref", "refs/heads/room/build", base)
    remote.commit("room/build", dict(kept), email="bert@example.test")  # anna's post is gone
    report = bert.engine.sync()
    assert "rewritten" in [one.status for one in report.anomalies]
    assert [one.status for one in report.anomalies if one.path.endswith(".md")] == ["missing"]
    assert bert.inbox() == ["anna 0"]
    assert len(bert.engine.read("build")) == 2
    assert next(view for view in bert.engine.rooms() if view.room.id == "build").rewritten_at is not None
    assert len(remote.files("room/build")) == 1  # bert pushes nobody else's
    anna.sync()
    assert len(remote.files("room/build")) == 2  # anna her own, once
    bert.sync()
    assert bert.inbox() == ["anna 0"]
    assert anna.inbox() == ["bert 0"]
    assert bert.engine.confirm_rewrite("build")
    assert not bert.engine.confirm_rewrite("build")
    remote.sh("update-ref", "refs/heads/room/build", base)
    anna.sync()
    assert remote.files("room/build") == {}  # once, not for ever


def test_a_room_replaced_by_an_orphan_with_a_changed_post_shows_the_first_words(
    pair: tuple[Node, Node], remote: BareRemote
) -> None:
    anna, bert = pair
    anna.send("pay 10", "bert")
    bert.sync()
    ((path, data),) = remote.files("room/build").items()
    changed = remote.blob(data.replace(b"pay 10", b"pay 99"))
    remote.put_tree("room/build", remote.nested({path: ("100644", changed)}), orphan=True)
    report = bert.engine.sync()
    assert {one.status for one in report.anomalies} == {"rewritten", "M"}
    assert bert.inbox() == ["pay 10"]
    anna.send("next", "bert")
    bert.sync()
    assert bert.inbox() == ["pay 10", "next"]


def test_a_room_that_goes_and_comes_back_in_time_is_told(pair: tuple[Node, Node], remote: BareRemote) -> None:
    anna, bert = pair
    anna.send("one", "bert")
    middle = remote.tip("room/build")
    anna.send("two", "bert")
    bert.sync()
    tip = remote.tip("room/build")
    remote.sh("update-ref", "-d", "refs/heads/room/build")
    assert [one.status for one in bert.engine.sync().anomalies] == ["gone"]
    assert bert.inbox() == ["one", "two"]
    waiting = bert.send("still mine", "anna")
    assert waiting.delivery == "queued"
    assert "no such branch" in (waiting.reason or "")
    assert "room/build" not in remote.branches()
    remote.sh("update-ref", "refs/heads/room/build", middle)
    bert.sync()
    assert sorted(bert.inbox()) == ["one", "two"]
    remote.sh("update-ref", "refs/heads/room/build", tip)
    for one in (bert, anna, bert):
        one.engine.sync()
    assert sorted(bert.inbox()) == ["one", "two"]
    assert anna.inbox() == ["still mine"]


def test_a_damaged_copy_is_fetched_anew_and_nothing_is_lost_or_repeated(
    pair: tuple[Node, Node], remote: BareRemote
) -> None:
    anna, bert = pair
    anna.send("before", "bert")
    bert.sync()
    anna.send("after", "bert")
    for pack in (bert.folder / "networks" / "net" / "git" / "objects" / "pack").glob("*.pack"):
        pack.chmod(0o644)
        pack.write_bytes(pack.read_bytes()[:20])
    bert.sync()
    assert bert.inbox() == ["before", "after"]
    assert bert.send("and on", "anna").delivery == "pushed"


def test_another_home_of_the_same_agent_sees_its_posts_without_being_told_of_them(
    pair: tuple[Node, Node], remote: BareRemote, tmp_path: Path
) -> None:
    anna, _ = pair
    anna.send("from the desk", "bert")
    laptop = node(tmp_path / "laptop", remote, "anna", "build", environ=environment(tmp_path / "laptop" / "h", "anna"))
    laptop.sync()
    assert laptop.inbox() == []
    assert [one.post.body for one in laptop.engine.read("build")] == ["from the desk\n"]


@pytest.mark.requirement("RELAY-HOME")
def test_reads_do_not_need_the_remote(pair: tuple[Node, Node], remote: BareRemote, tmp_path: Path) -> None:
    anna, bert = pair
    anna.send("read me", "bert")
    bert.sync()
    remote.path.rename(tmp_path / "away")
    (bert.folder / "networks" / "net" / "git").rename(tmp_path / "git-away")  # nor git
    assert bert.inbox() == ["read me"]
    assert len(bert.engine.read("build")) == len(bert.engine.search("read")) == len(bert.engine.history("build")) == 1
    assert bert.engine.trace(bert.engine.inbox().items[0].post.id).pushed
    assert [view.room.id for view in bert.engine.rooms()] == ["build"]
    assert len(bert.engine.cards()) == 2
