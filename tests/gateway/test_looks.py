"""Who tells the gateway that something came: the daemon, a watched remote, or the next look."""

import os
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

from peerline.gateway.looks import Looks
from peerline.network.config import default_identity
from peerline.network.direct import DirectCalls
from peerline.network.home import Home
from peerline.network.joining import enter
from tests.gateway.test_whole_way import KOMNET
from tests.hub_process import PATIENCE_S
from tests.network.nodes import Node, environment, node, now
from tests.network.remotes import BareRemote

NEVER_S = 3_600.0
ELSEWHERE = "https://elsewhere.invalid/team.git"


class Machine:
    """Ada's, which looks after her network by `Looks`; `heard` waits until the gateway would find a message."""

    def __init__(self, tmp: Path, remote: BareRemote) -> None:
        self.home = Home(tmp / "ada" / ".komnet")
        self.environ = environment(tmp / "ada", "ada")
        self._about: dict[str, Any] = {"now": now, "entropy": os.urandom, "environ": self.environ}
        enter(self.home, default_identity("ada", "ada", "UTC"), remote=remote.url, network="net", **self._about)
        self.direct().call("roomCreate", {"room": "build"}, None)
        self.remote, self._bell, self._engine = remote, threading.Event(), self.direct().session("net").engine

    def direct(self) -> DirectCalls:
        return DirectCalls(self.home, **self._about)

    @contextmanager
    def looking(self, remote: str | None = None, every_s: float = NEVER_S) -> Iterator[Looks]:
        """`remote` replaces what the gateway watches; the home knows where the network is."""
        looks = Looks(self.home, direct=self.direct, ring=self._bell.set, every_s=every_s)
        looks.follow({"net": remote or self.remote.url})
        try:
            yield looks
        finally:
            looks.stop()

    def heard(self, id: str) -> None:
        end = time.monotonic() + PATIENCE_S
        while id not in [item.post.id for item in self._engine.arrived_after(0)]:
            assert self._bell.wait(max(0.0, end - time.monotonic())), "nothing rang"
            self._bell.clear()

    @contextmanager
    def daemon(self) -> Iterator[None]:
        env = self.environ | {"KOMNET_HOME": str(self.home.folder)}
        with subprocess.Popen([*KOMNET, "daemon", "run"], env=env, stdout=subprocess.PIPE, text=True) as daemon:
            assert daemon.stdout is not None
            assert "ready" in daemon.stdout.readline()
            try:
                yield
            finally:
                daemon.terminate()


@pytest.fixture
def ada(tmp_path: Path, remote: BareRemote) -> Machine:
    return Machine(tmp_path, remote)


@pytest.fixture
def bob(tmp_path: Path, remote: BareRemote, ada: Machine) -> Node:
    bob = node(tmp_path, remote, "bob", "build")
    bob.engine.initialise()
    bob.sync()
    return bob


def test_a_remote_on_this_machine_is_looked_at_when_it_moves(ada: Machine, bob: Node) -> None:
    with ada.looking():
        for number in range(3):  # the second and third cannot be the first look's
            ada.heard(bob.send(f"message {number}", "ada").post.id)


def test_a_daemon_tells_and_when_it_goes_or_comes_nothing_is_missed(ada: Machine, bob: Node) -> None:
    with ada.looking():
        ada.heard(bob.send("before", "ada").post.id)
        with ada.daemon():
            ada.heard(bob.send("while the daemon serves", "ada").post.id)
            ada.heard(bob.send("and again", "ada").post.id)
        ada.heard(bob.send("after", "ada").post.id)


def test_what_the_daemon_found_rings_without_a_look_of_our_own(ada: Machine, bob: Node) -> None:
    with ada.daemon(), ada.looking(ELSEWHERE):
        for number in range(3):
            ada.heard(bob.send(f"message {number}", "ada").post.id)


def test_a_remote_that_cannot_be_watched_is_looked_at_again_and_again(ada: Machine, bob: Node) -> None:
    with ada.looking(ELSEWHERE, every_s=0.2):
        for number in range(3):
            ada.heard(bob.send(f"message {number}", "ada").post.id)


def test_a_network_that_was_left_is_no_trouble(ada: Machine, bob: Node) -> None:
    with ada.looking() as looks:
        looks.follow({"net": ada.remote.url, "gone": "/nowhere/team.git"})
        ada.heard(bob.send("hello", "ada").post.id)
        looks.follow({"net": ada.remote.url})
        ada.heard(bob.send("again", "ada").post.id)
