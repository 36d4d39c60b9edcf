"""What a command may load before it knows whether a daemon answers: its start is felt at every call."""

import subprocess
import sys

import pytest

from peerline.cli.komnet.table import COMMANDS

HEAVY = ("peerline.network.engine", "peerline.network.scanner.refusal", "re2", "apsw", "yaml", "subprocess", "hashlib")


@pytest.mark.parametrize("command", ["inbox", "status", "read", "send"])
def test_the_modules_of_a_command_that_a_daemon_may_answer_load_no_engine(command: str) -> None:
    module = f"peerline.cli.komnet.{COMMANDS[command].module}"
    tell = f"import sys, peerline.cli.hot, peerline.cli.komnet.app, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", tell], capture_output=True, text=True, check=True).stdout.split()
    assert module in loaded
    assert [name for name in HEAVY if name in loaded] == []
