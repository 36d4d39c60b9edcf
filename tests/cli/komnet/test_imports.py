"""What a command may load before it knows whether a daemon answers, and to read without one: its start is felt at
every call."""

import os
import subprocess
import sys
from collections.abc import Callable

import pytest

from peerline.cli.komnet.table import COMMANDS
from tests.cli.komnet.conftest import Machine

HEAVY = ("peerline.network.engine", "peerline.network.scanner.refusal", "re2", "apsw", "yaml", "subprocess", "hashlib")
# dataclasses brings inspect along, and each class of it costs half a millisecond; shutil brings the compressors.
WRITING = (
    *("peerline.network.engine", "peerline.network.sync", "peerline.network.outbox", "peerline.network.publishing"),
    *("peerline.network.scanner.refusal", "re2", "yaml", "hashlib", "dataclasses", "inspect", "shutil", "tempfile"),
)


@pytest.mark.parametrize("command", ["inbox", "status", "read", "send"])
def test_the_modules_of_a_command_that_a_daemon_may_answer_load_no_engine(command: str) -> None:
    module = f"peerline.cli.komnet.{COMMANDS[command].module}"
    tell = f"import sys, peerline.cli.hot, peerline.cli.komnet.app, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", tell], capture_output=True, text=True, check=True).stdout.split()
    assert module in loaded
    assert [name for name in HEAVY if name in loaded] == []


@pytest.mark.parametrize(
    "words", ["inbox --brief", "inbox", "status", "read build", "room list", "inbox --json", "gateway replies --brief"]
)
def test_to_read_without_a_daemon_where_nothing_moved_loads_nothing_that_writes(
    machine: Callable[[str], Machine], words: str
) -> None:
    alice, bob = machine("alice"), machine("bob")
    bob.komnet("send", "build", "hello", "--mention", "alice")
    alice.komnet("gateway", "prepare")  # a session beside a gateway starts with its replies
    shown = alice.komnet(*words.split()).out  # takes it in; from here on nothing moves
    tell = (
        f"import sys; from peerline.cli.komnet.app import main; assert main({words.split()}) == 0;"
        "print(*sys.modules, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", tell], capture_output=True, text=True, check=True, env=os.environ)
    assert [name for name in WRITING if name in done.stderr.split()] == []
    if words == "inbox --brief":
        assert done.stdout == shown
        assert "[build] bob (none): hello" in shown
