"""Two that chat through their daemons, each a process of its own: nothing is lost where both push at every moment."""

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path

import pytest

from peerline.network.config import default_identity
from peerline.network.daemon.client import DaemonLink
from peerline.network.home import Home
from peerline.network.joining import enter
from tests.network.nodes import environment, now
from tests.network.remotes import BareRemote

pytestmark = [pytest.mark.slow, pytest.mark.timeout(600)]
EACH = 15
KOMNET = [sys.executable, "-m", "peerline.cli.hot", "komnet"]


class Chatter:
    """An agent's machine with `komnet daemon run`; `got` are the ids that its subscription told of."""

    def __init__(self, tmp: Path, remote: BareRemote, agent: str, *, first: bool) -> None:
        self.agent, self.home, self.env = agent, Home(tmp / agent / ".komnet"), environment(tmp / agent, agent)
        me = default_identity(agent, agent, "UTC")
        enter(self.home, me, remote=remote.url, network="net", now=now, entropy=os.urandom, environ=self.env)
        self._direct("room", "create" if first else "join", "build")
        self.got: list[str] = []
        self.sent: list[str] = []

    def _direct(self, *words: str) -> None:
        subprocess.run([*KOMNET, *words], env=self._environ(), check=True, capture_output=True)

    def _environ(self) -> dict[str, str]:
        return self.env | {"KOMNET_HOME": str(self.home.folder), "USER": self.agent}

    @contextmanager
    def served(self) -> Iterator[None]:
        running = subprocess.Popen([*KOMNET, "daemon", "run"], env=self._environ(), stdout=subprocess.PIPE, text=True)
        try:
            assert running.stdout is not None
            assert any("daemon ready" in line for line in running.stdout)
            yield
        finally:
            running.terminate()
            running.communicate()

    def chat(self, other: str) -> None:
        """Say all there is to say, as fast as the daemon takes it."""
        link = DaemonLink(self.home.socket)
        for number in range(EACH):
            made = {"body": f"{self.agent} {number}", "mentions": [other]}
            self.sent.append(link.call("send", {"room": "build", "input": made})["message"]["id"])
        link.close()

    def listen(self, ready: threading.Event) -> None:
        """Until as many were told of as the other says."""
        events = DaemonLink(self.home.socket)
        events.subscribe({}, None)
        ready.set()
        events.wait(300.0)
        while len(self.got) < EACH:
            told = events.next_line()
            if told.get("event") == "delivered":
                self.got += told["ids"]
        events.close()

    def inbox(self) -> list[tuple[str, str]]:
        link = DaemonLink(self.home.socket)
        items = link.call("inbox", {})["items"]
        link.close()
        return [(item["id"], item["body"].rstrip("\n")) for item in items]


def test_two_daemons_that_chat_get_thirty_of_thirty(tmp_path: Path, remote: BareRemote) -> None:
    pair = [Chatter(tmp_path, remote, name, first=name == "anna") for name in ("anna", "bert")]
    with ExitStack() as running:
        for one in pair:
            running.enter_context(one.served())
        ears = [threading.Event() for _ in pair]
        listening = [threading.Thread(target=one.listen, args=(ear,)) for one, ear in zip(pair, ears, strict=True)]
        for thread in listening:
            thread.start()
        for ear in ears:
            assert ear.wait(60)
        talking = [
            threading.Thread(target=one.chat, args=(other.agent,)) for one, other in zip(pair, pair[::-1], strict=True)
        ]
        for thread in talking:
            thread.start()
        for thread in (*talking, *listening):
            thread.join(400)
        for one, other in zip(pair, pair[::-1], strict=True):
            assert sorted(one.got) == sorted(other.sent)
            assert one.inbox() == [(id, f"{other.agent} {number}") for number, id in enumerate(other.sent)]
    assert remote.fsck() == ""
