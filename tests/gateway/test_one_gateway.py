"""One gateway a machine, as processes: a second one, a recycled pid, a paused holder, a lock that was taken away."""

import json
import os
import signal
import subprocess
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from peerline.gateway.journal import Journal, TakenOver
from peerline.gateway.place import GatewayPlace
from peerline.gateway.request_file import Request, queue_request
from peerline.network.home import Home
from tests.gateway.test_whole_way import KOMNET, Gateway, User
from tests.hub_process import PATIENCE_S, environment
from tests.network.nodes import environment as git_environment
from tests.network.nodes import now


@pytest.fixture
def alice(tmp_path: Path) -> User:
    """In a network, without a hub."""
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(tmp_path / "team.git")], check=True)
    home = tmp_path / "alice"
    user = User(environment(home, KXM_PORT="9") | git_environment(home, "alice") | {"USER": "alice"})
    user.komnet("init", "--repo", str(tmp_path / "team.git"), "--agent", "alice")
    user.komnet("room", "create", "build")
    return user


@pytest.fixture
def start(alice: User) -> Iterator[Callable[..., Gateway]]:
    running: list[Gateway] = []

    def begin(**variables: str) -> Gateway:
        running.append(Gateway(User(alice.env | variables)))
        running[-1].line("relay-armed")
        return running[-1]

    yield begin
    for one in running:
        if one.process.poll() is None:
            one.process.send_signal(signal.SIGCONT)
            one.end(signal.SIGKILL)


def place_of(user: User) -> GatewayPlace:
    return GatewayPlace(Home(Path(user.env["HOME"]) / ".komnet"))


def asked(user: User, body: str) -> str:
    """A session's request file; its name."""
    request = Request(session="backend-2e", reply_key="42", room="build", body=body, queued_at="")
    return queue_request(place_of(user).requests, request, now=now(), entropy=os.urandom)


def said_in_the_room(user: User) -> list[str]:
    return [one["body"].split("\n")[0] for one in user.komnet("read", "build") if "relay" in one["tags"]]


def refused(user: User, *words: str, **variables: str) -> Any:
    """What a second gateway says as it ends with code 3."""
    done = subprocess.run(
        [*KOMNET, "gateway", *words, "--json"],
        env=user.env | variables, cwd=user.env["HOME"], capture_output=True, timeout=PATIENCE_S, check=False,
    )  # fmt: skip
    assert done.returncode == 3, done.stderr
    return json.loads(done.stderr)


@pytest.mark.requirement("RELAY-GATEWAY-ONE")
@pytest.mark.parametrize("form", ["run", "watch", "prepare"])
def test_a_second_gateway_of_either_form_ends_with_3_and_names_the_first(
    alice: User, start: Callable[..., Gateway], form: str
) -> None:
    first = start()
    assert refused(alice, form)["detail"] == f"a gateway runs on this machine already: process {first.process.pid}"


@pytest.mark.requirement("RELAY-GATEWAY-ONE")
def test_another_spelling_of_the_same_home_is_the_same_machine(
    alice: User, start: Callable[..., Gateway], tmp_path: Path
) -> None:
    first = start()
    (tmp_path / "link").symlink_to(Path(alice.env["HOME"]) / ".komnet")
    found = refused(alice, "run", KOMNET_HOME=str(tmp_path / "link"))
    assert str(first.process.pid) in found["detail"]


@pytest.mark.parametrize("pid", ["1", "self", "no number"])
def test_a_lock_whose_holder_ended_holds_nobody_whoever_has_its_pid_now(
    alice: User, start: Callable[..., Gateway], pid: str
) -> None:
    """The lock is the kernel's and ends with its holder; the pid beside it is for people alone."""
    start().end(signal.SIGKILL)
    place = place_of(alice)
    place.lock.with_name("gateway.lock-holder").write_text(str(os.getpid()) if pid == "self" else pid)
    name = asked(alice, "after a kill")
    second = start()
    second.line("relay-request")
    assert second.end() == 0
    assert json.loads((place.results / name).read_text())["state"] == "sent"
    assert said_in_the_room(alice) == ["after a kill"]


def test_a_paused_gateway_keeps_its_place_and_goes_on_where_it_was(alice: User, start: Callable[..., Gateway]) -> None:
    first = start()
    first.process.send_signal(signal.SIGSTOP)
    name = asked(alice, "while it is paused")
    assert f"process {first.process.pid}" in refused(alice, "run")["detail"]
    assert (place_of(alice).requests / name).is_file(), "nobody took it, nobody lost it"
    first.process.send_signal(signal.SIGCONT)
    first.line("relay-request")
    assert first.end() == 0
    assert said_in_the_room(alice) == ["while it is paused"]


def test_a_gateway_whose_lock_was_taken_away_ends_when_another_begins_and_nothing_is_sent_twice(
    alice: User, start: Callable[..., Gateway]
) -> None:
    first = start()
    first.process.send_signal(signal.SIGSTOP)
    place_of(alice).lock.unlink()
    names = [asked(alice, f"question {number}") for number in range(3)]
    second = start()
    for _ in names:
        second.line("relay-request")
    first.process.send_signal(signal.SIGCONT)
    names.append(asked(alice, "question 3"))
    assert first.process.wait(PATIENCE_S) == 3
    second.line("relay-request")
    assert second.end() == 0
    assert sorted(said_in_the_room(alice)) == [f"question {number}" for number in range(4)]
    assert {json.loads((place_of(alice).results / name).read_text())["state"] for name in names} == {"sent"}


def test_what_an_earlier_gateway_would_still_write_is_refused_and_changes_nothing(tmp_path: Path) -> None:
    first, second, person = (Journal(tmp_path / "gateway.db") for _ in range(3))
    first.hold()
    first.write(lambda tx: tx.add_request("one", 1))
    second.hold()
    with pytest.raises(TakenOver):
        first.write(lambda tx: tx.set_request("one", state="refused"))
    second.write(lambda tx: tx.set_request("one", summary="seen"))
    with pytest.raises(TakenOver):
        first.require_place()
    second.require_place()
    person.write(lambda tx: tx.subscribe("ops", "build", default=False))
    row = second.read(lambda tx: tx.request("one"))
    assert row is not None
    assert (row.state, row.summary) == ("claimed", "seen")


def test_two_that_send_the_same_request_choose_one_id(tmp_path: Path) -> None:
    """A session's `komnet gateway send` beside the process."""
    one, other = Journal(tmp_path / "gateway.db"), Journal(tmp_path / "gateway.db")
    one.write(lambda tx: tx.add_request("one", 1))
    assert one.write(lambda tx: tx.start_sending("one", "first", room="build")) == "first"
    assert other.write(lambda tx: tx.start_sending("one", "second", room="other")) == "first"


@pytest.mark.slow
@pytest.mark.timeout(600)
def test_of_two_hundred_starts_two_at_a_time_one_of_each_pair_is_the_gateway(alice: User, tmp_path: Path) -> None:
    """The second names the home through a link: it is the same gateway's."""
    home = place_of(alice).requests.parent.parent
    (tmp_path / "link").symlink_to(home)
    for _ in range(100):
        pair = [Gateway(User(alice.env | {"KOMNET_HOME": str(spelt)})) for spelt in (home, tmp_path / "link")]
        said = [one.process.stdout.readline() for one in pair if one.process.stdout is not None]  # a line, or its end
        armed = [line for line in said if line.startswith("relay-armed")]
        assert len(armed) == 1, said
        codes = [
            one.end(signal.SIGKILL) if line in armed else one.process.wait(PATIENCE_S)
            for one, line in zip(pair, said, strict=True)
        ]
        assert sorted(codes) == [-signal.SIGKILL, 3]
        for one in pair:
            if one.process.stdout is not None:
                one.process.stdout.close()
