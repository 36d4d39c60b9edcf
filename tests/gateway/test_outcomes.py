"""What goes wrong round the gateway: each time the session or the person is told, and nothing is lost."""

import json
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from peerline.core.fence import unrender
from peerline.gateway import resolving
from peerline.gateway import status as gateway_status
from peerline.gateway.sessions import Uncertain
from tests.gateway.stage import Hub, Stage, stage
from tests.gateway.test_relay import answered
from tests.network.nodes import founded, node, now
from tests.network.remotes import BareRemote

SECRET = "AKIAABCDEFGHIJKLMNOP"


@pytest.fixture
def here(tmp_path: Path, remote: BareRemote) -> Stage:
    return stage(tmp_path, remote, Hub(here={"ops"}))


def bytes_kept(here: Stage) -> bytes:
    return b"".join(file.read_bytes() for file in here.place.folder.rglob("*") if file.is_file())


@pytest.mark.requirement("RELAY-SCANNER-REPORTED", "RELAY-SCANNER-REFUSES", "RELAY-TRUST-NO-FORCE-UNSAFE")
def test_a_secret_comes_back_with_rule_and_place_and_its_value_is_kept_nowhere(here: Stage) -> None:
    stem = here.ask(f"first line\nthe key is {SECRET}\nthird")
    relay = here.relay()
    relay.step()
    relay.step()
    result = here.result(stem)
    assert (result["state"], result["code"], result["messageId"]) == ("refused", "SECRET_DETECTED", None)
    assert "aws" in result["detail"]
    assert "line 2, column 12" in result["detail"]
    (shown,) = gateway_status.status(here.journal())["requests"]
    assert shown["detail"] == result["detail"]
    assert SECRET not in json.dumps([result, here.said, shown])
    assert SECRET.encode() not in bytes_kept(here)
    here.bob.sync()
    assert here.bob.engine.history("build") == []


def test_a_first_line_that_was_refused_stands_in_no_summary(here: Stage) -> None:
    here.ask(f"the key is {SECRET}")
    here.relay().step()
    (row,) = here.journal().read(lambda tx: tx.requests("refused"))
    assert row.summary is None
    assert SECRET not in here.place.routes.read_text()


def test_rooms_and_agents_with_two_hyphens_find_their_way_there_and_back(tmp_path: Path, remote: BareRemote) -> None:
    founded(remote, "alice", "bob--b", rooms=("a--b",))
    alice, bob = node(tmp_path, remote, "alice", "a--b"), node(tmp_path, remote, "bob--b", "a--b")
    for one in (alice, bob):
        one.sync()
    here = Stage(tmp_path / "home", alice, bob, Hub())
    stem, relay = here.ask(room="a--b", to="bob--b"), here.relay()
    relay.step()
    bob.sync()
    (asked,) = bob.engine.arrived_after(0)
    bob.send("yes", "alice", room="a--b", kind="answer", in_reply_to=asked.post.id, thread=asked.post.id)
    alice.sync()
    relay.step()
    relay.step()
    (waiting,) = here.box().waiting()
    assert f"{waiting.room}--{waiting.sender}" == "a--b--bob--b"
    assert unrender(here.box().read(waiting.file)) == "yes"
    assert here.result(stem)["state"] == "answered"


def test_two_sessions_of_one_project_each_have_the_answer_to_their_own_question(here: Stage) -> None:
    relay = here.relay()
    stems = [here.ask(f"question {name}", session=name) for name in ("one", "two")]
    relay.step()
    here.bob.sync()
    for item in reversed(here.bob.engine.arrived_after(0)):
        body = f"answer to {item.post.body.split()[1]}"
        here.bob.send(body, "alice", kind="answer", in_reply_to=item.post.id, thread=item.post.id)
    here.alice.sync()
    relay.step()
    for stem, name in zip(stems, ("one", "two"), strict=True):
        found = here.journal().read(lambda tx, stem=stem: tx.answer_to(stem))  # type: ignore[misc]
        assert found is not None
        assert found.file is not None
        assert (found.session, unrender(here.box().read(found.file))) == (name, f"answer to {name}")


def test_a_session_that_asked_on_the_hub_and_ended_leaves_its_answer_with_the_person(here: Stage) -> None:
    """It left no reply key: there is no project to file it for, so it is held and shown."""
    hub = here.hub
    assert isinstance(hub, Hub)
    relay = here.relay()
    here.ask(session="ops")
    relay.step()
    (sent,) = here.journal().read(lambda tx: tx.requests("sent"))
    here.journal().write(lambda tx: tx.set_request(sent.stem, reply_key=None))
    answer = answered(here)
    relay.step()
    assert [session for session, _ in hub.pushed.values()] == ["ops"]
    hub.stands[f"msg_net:{answer}"] = "gone"
    relay.step()
    (held,) = gateway_status.status(here.journal())["held"]
    assert (held["id"], held["session"]) == (answer, "ops")
    assert "never taken from the hub" in held["reason"]
    assert [id for id, _ in here.told] == [answer]
    assert here.pending() == ["yes, since monday"]


def test_what_nobody_took_from_the_hub_goes_to_the_session_that_its_person_names_then(here: Stage) -> None:
    """It is another push than the one that ended, also to the very session that was away."""
    hub = here.hub
    assert isinstance(hub, Hub)
    hub.here |= {"dev"}
    relay = here.relay()
    here.journal().write(lambda tx: tx.subscribe("ops", "build", default=True))
    here.bob.send("which branch?", "alice", kind="question", needs="agent")
    here.alice.sync()
    relay.step()
    (item,) = here.journal().read(lambda tx: tx.items("pushed"))
    for number, (name, message) in enumerate([("dev", f"msg_{item.push_key}"), ("dev", f"msg_{item.push_key}:1")]):
        hub.stands[message] = "gone"
        relay.step()
        assert here.states() == {item.id: "held"}
        resolving.hand_to(here.journal(), item.id, name, None, now())
        relay.step()
        assert here.states() == {item.id: "pushed"}
        assert [session for session, _ in hub.pushed.values()] == ["ops", "dev", "dev"][: number + 2]
        (answer,) = here.journal().read(lambda tx: tx.answers("net", "waiting"))
        assert (answer.session, answer.hub_message) == ("dev", f"msg_{item.push_key}:{number + 1}")


@pytest.mark.requirement("RELAY-SEND-SUBSCRIBED-ONLY")
def test_a_room_that_nobody_follows_is_joined_for_no_request(here: Stage) -> None:
    stem = here.ask(room="elsewhere")
    here.relay().step()
    assert here.result(stem)["code"] == "NOT_SUBSCRIBED"
    assert "komnet room join elsewhere" in here.result(stem)["detail"]
    assert here.alice.engine.followed() == ("build",)


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Path]:
    """The gateway's folder on a file system of its own, of 1 MB."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("a small disk needs root on Linux: it mounts a tmpfs")
    at = tmp_path / "home" / "gateway"
    at.mkdir(parents=True)
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=1m,mode=0700", "tmpfs", at], check=True)
    yield at
    subprocess.run(["umount", "-l", at], check=True)


def fill(folder: Path) -> Path:
    ballast = folder / "ballast"
    with ballast.open("wb", buffering=0) as stream:
        try:
            while stream.write(bytes(4096)):
                pass
        except OSError:
            return ballast
    raise AssertionError("the disk never became full")


def test_on_a_full_disk_nothing_is_lost_and_it_goes_on_when_there_is_room(here: Stage, small: Path) -> None:
    relay = here.relay()
    relay.step()
    first = here.ask("before it was full")
    ballast = fill(small)
    for _ in range(3):
        relay.step()
    assert [line for line in here.said if line.startswith("relay-degraded")], "nobody was told"
    with pytest.raises(OSError):
        here.ask("while it is full")
    ballast.unlink()
    for file in (*small.glob("requests/*.tmp"), *small.glob("requests/.*")):
        file.unlink()
    for _ in range(2):
        relay.step()
    assert here.result(first)["state"] == "sent"
    answer = answered(here)
    ballast = fill(small)
    for _ in range(3):
        relay.step()
    ballast.unlink()
    for _ in range(3):
        relay.step()
    assert [one.id for one in here.box().waiting()] == [answer]
    assert here.result(first)["state"] == "answered"
    assert len([one for one in here.bob.engine.history("build") if "relay" in one.post.tags]) == 1


def test_what_was_dismissed_or_handed_on_by_the_person_is_told_no_second_time(here: Stage) -> None:
    relay = here.relay()
    sent = here.bob.send("for whom?", "alice")
    here.alice.sync()
    relay.step()
    resolving.hand_to(here.journal(), sent.post.id, "ops", None, now())
    relay.step()
    hub: Any = here.hub
    assert [session for session, _ in hub.pushed.values()] == ["ops"]
    assert len(here.told) == 1


class UncertainHub(Hub):
    """It never says whether a push arrived."""

    def push(self, session: str, project: str | None, text: str, *, key: str, thread: str) -> str:
        raise Uncertain("no answer came")


def test_what_is_drained_elsewhere_while_its_push_is_uncertain_is_over(tmp_path: Path, remote: BareRemote) -> None:
    here = stage(tmp_path, remote, UncertainHub(here={"ops"}))
    relay = here.relay()
    here.journal().write(lambda tx: tx.subscribe("ops", "build", default=True))
    sent = here.bob.send("which branch?", "alice")
    here.alice.sync()
    relay.step()
    assert here.states() == {sent.post.id: "pushing"}
    here.alice.engine.drain([sent.post.id])
    relay.step()
    assert here.states() == {}
