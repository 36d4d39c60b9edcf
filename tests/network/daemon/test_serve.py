"""A daemon on a real repository: what it answers, pushes and tells."""

import asyncio
import os
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from peerline.network.config import default_identity
from peerline.network.daemon.client import DaemonLink
from peerline.network.daemon.protocol import Refusal
from peerline.network.daemon.serve import Daemon
from peerline.network.direct import DirectCalls
from peerline.network.home import Home
from peerline.network.joining import enter
from tests.network.nodes import environment, now


class Machine:
    def __init__(self, tmp: Path, remote: Path, agent: str) -> None:
        self.home = Home(tmp / agent / ".komnet")
        self.environ = environment(tmp / agent, agent)
        self.about: dict[str, Any] = {"now": now, "entropy": os.urandom, "environ": self.environ}
        me = default_identity(agent, agent, "UTC")
        enter(self.home, me, remote=str(remote), network="net", **self.about)
        self.direct = DirectCalls(self.home, **self.about)
        self.said: list[str] = []

    async def served(self, work: Callable[[DaemonLink], Any]) -> Any:
        """What `work` returns while the daemon of this machine runs; it runs in a thread of its own."""
        daemon = Daemon(self.home, log=self.said.append, **self.about)
        ready = asyncio.Event()
        running = asyncio.create_task(daemon.run(lambda line: ready.set()))
        await ready.wait()

        def in_thread() -> Any:
            link = DaemonLink(self.home.socket)
            try:
                return work(link)
            finally:
                link.call("shutdown", {})
                link.close()

        try:
            return await asyncio.to_thread(in_thread)
        finally:
            await running


@pytest.fixture
def two(tmp_path: Path) -> tuple[Machine, Machine]:
    remote = tmp_path / "team.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(remote)], check=True)
    alice, bob = Machine(tmp_path, remote, "alice"), Machine(tmp_path, remote, "bob")
    alice.direct.call("roomCreate", {"room": "build"})
    bob.direct.call("roomJoin", {"room": "build"})
    return alice, bob


@pytest.mark.anyio
async def test_a_send_over_the_socket_is_on_the_remote_when_it_says_so(two: tuple[Machine, Machine]) -> None:
    alice, bob = two
    made = {"room": "build", "input": {"body": "hello", "mentions": ["bob"]}}
    result = await alice.served(lambda link: link.call("send", made))
    assert result["message"]["delivery"] == "pushed"
    bob.direct.call("sync", {})
    assert [one["id"] for one in bob.direct.call("inbox", {})["items"]] == [result["message"]["id"]]


@pytest.mark.anyio
async def test_what_another_machine_pushes_is_told_to_a_subscription_without_a_poll(
    two: tuple[Machine, Machine],
) -> None:
    alice, bob = two

    def work(link: DaemonLink) -> Any:
        events = DaemonLink(bob.home.socket)
        events.subscribe({}, None)
        sent = alice.direct.call("send", {"room": "build", "input": {"body": "wake up", "mentions": ["bob"]}})
        events.wait(9.0)  # the pace of a busy network is 10 s
        told = events.next_line()
        events.close()
        return sent["message"]["id"], told

    sent, told = await bob.served(work)
    assert (told["event"], told["network"], told["ids"]) == ("delivered", "net", [sent])


@pytest.mark.requirement("RELAY-TRUST-HUMAN-TOOL", "RELAY-TRUST-HUMAN-DAEMON")
@pytest.mark.anyio
async def test_no_way_but_a_persons_terminal_answers_what_needs_a_human(two: tuple[Machine, Machine]) -> None:
    from peerline.mcp_stdio.network_tools import ACTS

    alice, bob = two
    made = {"room": "build", "input": {"body": "may we?", "needs": "human", "mentions": ["bob"]}}
    asked = alice.direct.call("send", made)["message"]["id"]
    bob.direct.call("sync", {})
    given = {"messageId": asked, "body": "yes"}

    def work(link: DaemonLink) -> list[str]:
        codes = []
        for params in (given, given | {"asHuman": True}, given | {"authorKind": "human"}):
            with pytest.raises(Refusal) as refused:
                link.call("answer", params)
            codes.append(refused.value.code)
        return codes

    assert await bob.served(work) == ["NEEDS_HUMAN", "FORBIDDEN", "FORBIDDEN"]
    with pytest.raises(Exception, match="needs: human"):
        ACTS["komnet_answer"](bob.direct, given, lambda seconds: None)
    assert [one["id"] for one in bob.direct.call("inbox", {})["items"]] == [asked]


@pytest.mark.anyio
async def test_a_room_that_another_process_joins_is_followed_by_the_running_daemon(
    two: tuple[Machine, Machine],
) -> None:
    alice, bob = two
    alice.direct.call("roomCreate", {"room": "later"})

    def work(link: DaemonLink) -> Any:
        bob.direct.call("roomJoin", {"room": "later"})
        alice.direct.call("send", {"room": "later", "input": {"body": "x", "mentions": ["bob"]}})
        link.call("sync", {})
        return link.call("inbox", {})["items"]

    assert [one["room"] for one in await bob.served(work)] == ["later"]
