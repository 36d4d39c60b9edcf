"""The gateway tells its person of what it could not place, once for each item; a session's start has ids alone."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from peerline.gateway.place import GatewayPlace
from peerline.network.home import Home
from tests.cli.komnet.conftest import Machine, machine
from tests.cli.person_shell import Shell
from tests.hub_process import HubProcess
from tests.network.daemon.test_notify import Desktop

__all__ = ["machine"]

Set = Callable[[str], Machine]


@pytest.fixture
def bob(machine: Set) -> Machine:
    """A machine where somebody wants something of a person, and something of an agent that nobody here is."""
    alice, bob = machine("alice"), machine("bob")
    GatewayPlace(Home(bob.home)).make()
    alice.komnet("ask", "build", "secret words", "--needs", "human", "--mention", "bob")
    alice.komnet("ask", "build", "other secret words", "--mention", "bob")
    bob.komnet("sync")
    return bob


@contextmanager
def gateway(path: str | None = None) -> Iterator["subprocess.Popen[str]"]:
    """One that runs until the end of the block, and has told what it had to when it has ended."""
    process = subprocess.Popen(
        [sys.executable, "-m", "peerline.cli.hot", "komnet", "gateway", "run"],
        env={**os.environ, "KXM_SERVER_URL": "http://127.0.0.1:9", "PATH": path or os.environ["PATH"]},
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.terminate()
        process.communicate(timeout=60)


def told(bob: Machine) -> None:
    """A gateway has placed both messages as far as it can."""
    with gateway() as process:
        assert process.stdout is not None
        stopped = (line for line in process.stdout if line.startswith(("relay-held", "relay-waits-for-person")))
        assert len({next(stopped).split()[0], next(stopped).split()[0]}) == 2


def ids(bob: Machine) -> list[str]:
    return [one["id"] for one in bob.komnet("inbox", "--json").json["items"]]


def notices(bob: Machine) -> list[str]:
    text = (bob.home / "inbox" / "NOTICE.md").read_text()
    assert "secret" not in text
    return [line for line in text.splitlines() if line.startswith("- ")]


@pytest.mark.requirement("RELAY-TRUST-HUMAN-SHOWN", "RELAY-ROUTE-HOLD", "RELAY-REPLY-FILE-TOLD")
def test_a_gateway_tells_once_and_the_next_one_does_not_tell_again(bob: Machine) -> None:
    with (bob.home / "config.yaml").open("a") as config:
        config.write("notify: file\n")
    told(bob)
    first = notices(bob)
    text = " ".join(first)
    # Both in one notice, or one each: that depends on when the first is told.
    assert "1 for a person, 1 held" in text or ("alice needs a person" in text and "alice wrote: held" in text)
    with gateway() as process:
        assert process.stdout is not None
        assert process.stdout.readline().startswith("relay-armed")
    assert notices(bob) == first


def test_the_desktop_gets_ids_and_reasons_and_no_words(bob: Machine, tmp_path: Path) -> None:
    desktop = Desktop(tmp_path / "desktop")
    with gateway(desktop.path):
        words = " ".join(desktop.next_notice())
    assert "--urgency=critical" in words
    assert "secret" not in words
    assert "room build" in words or "in build" in words


def test_a_session_s_start_has_counts_and_ids_and_no_words(bob: Machine) -> None:
    told(bob)
    text = bob.komnet("gateway", "replies", "--brief").out
    human, agent = ids(bob) if bob.komnet("inbox", "--json").json["items"][0]["needs"] == "human" else ids(bob)[::-1]
    assert text.startswith("komnet: 2 messages wait for your user (1 needs a human, 1 held): ")
    assert text.endswith(". Tell them: peerline inbox --me. None of it is for you.\n")
    assert human in text
    assert agent in text
    assert "secret" not in text


def test_a_session_s_start_is_silent_where_nothing_waits_for_the_person(machine: Set) -> None:
    alice = machine("alice")
    GatewayPlace(Home(alice.home)).make()
    assert alice.komnet("gateway", "replies", "--brief").out == ""


def test_why_has_a_line_for_each_of_them_without_its_words(bob: Machine, tmp_path: Path) -> None:
    told(bob)
    hub = HubProcess(tmp_path / "hub").start()
    try:
        text = Shell(bob.home.parent, hub).says("why")
    finally:
        hub.stop()
    lines = [line for line in text.splitlines() if "in #build of team" in line]
    assert len(lines) == 2
    assert any("it needs a human. Next: `peerline answer " in line for line in lines)
    assert any("held" in line or "no session here asked" in line for line in lines)
    assert "secret" not in text
