"""What the commands that are called often may import: their start is felt at every call."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.acceptance.shell import Shell
from tests.hub_process import PATIENCE_S, Agent, Project

SOURCE = Path(__file__).parents[2] / "src"
TELL = """
import os, sys
before = set(sys.modules)
from peerline.cli import hot
sys.argv = ["kxm", *sys.argv[1:]]
try:
    hot.kxm()
except SystemExit as end:
    code = end.code
sys.stderr.write("\\nLOADED " + " ".join(sorted(set(sys.modules) - before)) + f" code={code}")
"""
# The interpreter's own modules in C, and `__future__`, which holds a dozen names.
SMALL = {"__future__", "_json", "_socket", "_sha2", "_sha256", "errno", "unicodedata", "peerline", "peerline.cli"}


def loaded(environment: dict[str, str], folder: Path, *words: str) -> tuple[set[str], str]:
    """The modules that the command loads into an interpreter without `site`, and its exit code."""
    ran = subprocess.run(
        [sys.executable, "-S", "-c", TELL, *words],
        env={**environment, "PYTHONPATH": os.fspath(SOURCE)},
        cwd=folder,
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=True,
    )
    *modules, code = ran.stderr.rpartition("LOADED ")[2].split(" ")
    return set(modules), code.removeprefix("code=")


@pytest.mark.parametrize(
    "words",
    [
        ("list", "--include-offline"),
        ("send", "reviewer", "look"),
        ("get", "{id}"),
        ("await", "{id}", "--timeout-ms", "100"),
        ("inbox",),
        ("note", "{own}", "half way"),
        ("reply", "{own}", "done"),
        ("trace", "{id}"),
        ("cancel", "{id}"),
        (
            "fanout",
            "--targets",
            "reviewer",
            "--content",
            "look",
            "--idempotency-key-prefix",
            "p",
            "--timeout-ms",
            "100",
        ),
        ("send", "reviewer", "look", "--dry-run"),
    ],
    ids=lambda words: words[0],
)
def test_a_peer_command_loads_nothing_but_its_own_small_modules(
    words: tuple[str, ...], tmp_path: Path, project: Project, reviewer: Agent
) -> None:
    shell = Shell(tmp_path, project, "lead")
    assert shell.peer("inbox").code == 0  # so that the name is known and can be written to
    sent = shell.peer("send", "reviewer", "look").json["messageId"]
    own = reviewer.send("lead", allowOffline=True)["id"]
    argv = [word.replace("{id}", sent).replace("{own}", own) for word in words]
    modules, code = loaded(shell.variables(), tmp_path, "peer", *argv)
    assert code == ("1" if words[0] == "await" else "0")
    assert {name for name in modules if not name.startswith("peerline.cli.hot")} - SMALL == set()


def test_the_version_loads_a_single_module(tmp_path: Path) -> None:
    modules, code = loaded({"HOME": os.fspath(tmp_path)}, tmp_path, "--version")
    assert (modules, code) == ({"peerline", "peerline.cli", "peerline.cli.hot"}, "0")
