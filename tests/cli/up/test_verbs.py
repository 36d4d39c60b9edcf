"""`peerline up` and `down` on a machine in a network: real hub, daemon and gateway."""

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from peerline.cli.up.parts import parts
from tests.cli.komnet.conftest import Machine, machine
from tests.cli.person_shell import Shell

__all__ = ["machine"]


@pytest.fixture
def shell(machine: Callable[[str], Machine]) -> Iterator[Shell]:
    shell = Shell(machine("alice").home.parent, KXM_PORT="0")
    yield shell
    shell.run("down")


def pids(shell: Shell) -> dict[str, int | None]:
    return {one["name"]: one["pid"] for one in shell.told("up")["parts"]}


def states(shell: Shell) -> dict[str, str]:
    return {one["name"]: one["state"] for one in shell.told("up")["parts"]}


def running(shell: Shell) -> list[str]:
    return [part.name for part in parts(shell.env, with_hub=True) if part.runs() is not None]


def supervisor(shell: Shell) -> int:
    return int(json.loads((Path(shell.env["KXM_STATE_HOME"]) / "supervisor.json").read_text())["supervisor"])


def test_everything_starts_a_second_up_says_what_runs_and_down_stops_it(shell: Shell) -> None:
    first = shell.told("up")
    assert (first["already"], [one["name"] for one in first["parts"]]) == (False, ["hub", "daemon", "gateway"])
    assert {one["state"] for one in first["parts"]} == {"running"}
    shell.env["KXM_SERVER_URL"] = first["url"]
    says = shell.says("up")
    assert says.startswith("Everything runs already:\n  hub runs (process ")
    named = f"Here: daemon runs (process {pids(shell)['daemon']}), gateway runs (process {pids(shell)['gateway']})."
    assert named in shell.says("list")
    assert {"supervisor", "daemon", "gateway"} <= {one["check"] for one in shell.told("doctor")["findings"]}
    stopped = shell.says("down")
    assert [line.partition(" has stopped")[0] for line in stopped.splitlines()[:3]] == ["hub", "daemon", "gateway"]
    assert running(shell) == []
    assert shell.says("down") == "Nothing runs here; nothing to stop.\n"
    assert not (Path(shell.env["KXM_STATE_HOME"]) / "supervisor.json").exists()


def test_after_the_supervisor_was_killed_what_it_started_goes_on_and_is_still_ended_by_down(shell: Shell) -> None:
    before = pids(shell)
    shell.env["KXM_SERVER_URL"] = shell.told("up")["url"]
    os.kill(supervisor(shell), signal.SIGKILL)
    assert pids(shell) == before
    assert set(states(shell).values()) == {"elsewhere"}
    shell.says("down")
    assert running(shell) == []


def test_a_gateway_of_somebody_else_is_shown_left_alone_and_goes_on(shell: Shell) -> None:
    gateway = subprocess.Popen(
        [sys.executable, "-m", "peerline.cli.hot", "komnet", "gateway", "run"],
        env=shell.env, stdout=subprocess.PIPE, text=True,
    )  # fmt: skip
    try:
        assert gateway.stdout is not None
        assert gateway.stdout.readline().startswith("relay-armed")
        assert (pids(shell)["gateway"], states(shell)["gateway"]) == (gateway.pid, "elsewhere")
        assert f"gateway goes on (process {gateway.pid}): it was not started from here" in shell.says("down")
        assert gateway.poll() is None
    finally:
        gateway.terminate()
        gateway.communicate()


def test_two_daemons(shell: Shell, machine: Callable[[str], Machine]) -> None:
    # A short name: the folder is made of it, and a socket's path may not be long.
    remote = str(shell.home.parent / "team.git")
    added = subprocess.run(
        [sys.executable, "-m", "peerline.cli.hot", "komnet", "agent", "add", "c2", "--repo", remote],
        env=shell.env, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert added.returncode == 0, added.stderr
    assert list(states(shell)) == ["hub", "daemon", "daemon of c2", "gateway"]


def test_what_cannot_start_is_said_with_its_log_and_exit_1(shell: Shell) -> None:
    shell.env["KXM_PORT"] = "99999"
    done = shell.run("up")
    assert done.returncode == 1
    assert done.stdout.startswith("Not everything runs:\n  hub ended with exit code 2, and is started again; its log: ")
    assert "daemon runs" in done.stdout


def test_a_machine_in_no_network_starts_its_hub_alone(tmp_path: Path) -> None:
    shell = Shell(tmp_path, KXM_PORT="0")
    told: dict[str, Any] = shell.told("up")
    try:
        assert "parts" not in told
        assert not (tmp_path / "state" / "supervisor.json").exists()
        assert not (tmp_path / "state" / "supervisor.lock").exists()
    finally:
        assert shell.told("down")["stopped"] == [told["pid"]]


def test_it_stays_in_the_foreground_until_it_is_told_to_end(shell: Shell) -> None:
    with shell.started("up", "--foreground") as staying:
        while not (Path(shell.env["KXM_STATE_HOME"]) / "supervisor.json").exists():
            assert staying.poll() is None
        assert supervisor(shell) == staying.pid
        assert f"runs already (process {staying.pid})" in shell.refused("up", "--foreground")
        assert set(states(shell).values()) == {"running"}
        staying.terminate()
        assert staying.wait(40) == 0
    assert running(shell) == []


def test_an_agent_s_marks_do_not_reach_what_outlives_it(tmp_path: Path) -> None:
    env = {"CLAUDECODE": "1", "KXM_WORKER_SEAT": "/x", "HOME": str(tmp_path), "KXM_STATE_HOME": str(tmp_path)}
    assert {"CLAUDECODE", "KXM_WORKER_SEAT"} & set(parts(env, with_hub=True)[0].env()) == set()
