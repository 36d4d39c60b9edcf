"""The daemon tells the person at its machine, by a real program on PATH, and only what it should."""

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.network.nodes import Node, environment, node
from tests.network.remotes import BareRemote

KOMNET = [sys.executable, "-m", "peerline.cli.hot", "komnet"]


class Desktop:
    """A desktop whose `notify-send` hands its words to the test, one notice after another."""

    def __init__(self, folder: Path) -> None:
        folder.mkdir()
        self._told = folder / "told"
        os.mkfifo(self._told)
        program = folder / "notify-send"
        program.write_text(f'#!/bin/sh\nprintf "%s\\n" "$@" >"{self._told}"\n')
        program.chmod(0o755)
        self.path = f"{folder}:{os.environ['PATH']}"

    def next_notice(self) -> list[str]:
        """Waits for it; the suite's time-out is the bound."""
        return self._told.read_text().splitlines()


@pytest.fixture
def desktop(tmp_path: Path) -> Desktop:
    return Desktop(tmp_path / "desktop")


@pytest.fixture
def bob(tmp_path: Path, desktop: Desktop) -> Iterator[Node]:
    """Who writes to `ada-claude`, on whose machine a daemon runs and no agent is near."""
    remote = BareRemote(tmp_path / "remote.git")
    home = tmp_path / "ada"
    env = environment(home, "ada-claude") | {"PATH": desktop.path, "KOMNET_HOME": str(home / ".komnet")}
    for words in (["init", "--repo", remote.url, "--agent", "ada-claude"], ["room", "create", "build"]):
        subprocess.run([*KOMNET, *words], env=env, check=True, capture_output=True)
    other = node(tmp_path, remote, "bob-codex", "build")
    other.engine.initialise()
    other.sync()
    with subprocess.Popen([*KOMNET, "daemon", "run"], env=env, stdout=subprocess.PIPE, text=True) as daemon:
        assert daemon.stdout is not None
        assert "ready" in daemon.stdout.readline()
        try:
            yield other
        finally:
            daemon.terminate()


def test_a_message_that_needs_a_person_and_a_mention_are_told_and_nothing_of_their_texts(
    bob: Node, desktop: Desktop
) -> None:
    bob.send("A text for nobody in particular.")
    bob.send("The price, $(touch x)?", needs="human")
    *_, title, body = desktop.next_notice()
    assert title == "bob-codex needs a person"
    assert body.startswith("komnet, room build. Read it: komnet inbox --id ")
    sent = bob.send("For ada.", "ada-claude")
    notice = desktop.next_notice()
    assert notice == [
        "--app-name=komnet",
        "--urgency=normal",
        "--",
        "bob-codex mentions you",
        f"komnet, room build. Read it: komnet inbox --id {sent.post.id}",
    ]
