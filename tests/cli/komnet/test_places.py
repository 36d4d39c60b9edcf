"""`komnet init`, `agent …` and `setup` as typed: further agents, and what stands in a client's file."""

import os
import subprocess
import tomllib
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.komnet.conftest import Machine
from tests.network.remotes import BareRemote

Set = Callable[[str], Machine]


def test_codex_acts_as_a_further_agent_also_where_it_acted_as_another(
    machine: Set, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice = machine("alice")
    monkeypatch.setenv("XDG_STATE_HOME", str(alice.home.parent / "state"))
    alice.komnet("agent", "add", "dana-codex", "--repo", alice.remote.as_uri())
    alice.komnet("setup", "codex")
    typed = alice.komnet("--agent", "dana-codex", "setup", "codex")
    config = tomllib.loads((alice.home.parent / ".codex" / "config.toml").read_text())
    assert config["mcp_servers"]["komnet"]["env"] == {"KOMNET_HOME": str(alice.home / "agents" / "dana-codex")}
    assert "now runs as its own agent" in typed.out


def test_what_is_refused_or_left_is_not_told_as_done(machine: Set) -> None:
    alice = machine("alice")
    alice.komnet("agent", "add", "dana-codex", "--repo", alice.remote.as_uri())
    file = alice.home.parent / ".codex" / "config.toml"
    file.parent.mkdir()
    for text, code, mark in (
        ("mcp_servers = {}\n", 1, "✗ "),
        ('[mcp_servers.komnet]\ncommand = "mine"\n', 0, "! "),
    ):
        file.write_text(text)
        typed = alice.komnet("--agent", "dana-codex", "setup", "codex", code=code)
        assert typed.out.splitlines()[1].startswith(mark)
        assert "✓" not in typed.out
        assert "now runs as its own agent" not in typed.out
        assert file.read_text() == text


def test_a_further_agent_comes_to_a_second_network_in_its_own_home(machine: Set) -> None:
    alice = machine("alice")
    alice.komnet("agent", "add", "dana-codex", "--repo", alice.remote.as_uri())
    second = alice.remote.with_name("second.git")
    alice.komnet("agent", "add", "eve-codex", "--repo", alice.remote.as_uri())
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(second)], check=True)
    alice.komnet("--agent", "dana-codex", "init", "--repo", second.as_uri(), "--network", "second")
    networks = alice.komnet("--agent", "dana-codex", "network", "list", "--json").json
    assert [one["id"] for one in networks] == ["team", "second"]
    assert [one["id"] for one in alice.komnet("network", "list", "--json").json] == ["team"]


@pytest.mark.parametrize("name", ["../../x", "a\x1b[31m", "A b"])
def test_what_is_no_agents_name_has_no_home(machine: Set, name: str) -> None:
    typed = machine("alice").komnet("agent", "path", name, code=2)
    assert "\x1b" not in typed.out + typed.err


def test_an_address_is_shown_so_that_a_terminal_does_not_obey_it(machine: Set) -> None:
    typed = machine("alice").komnet("init", "--repo", "/tmp/\x1b[31m", code=1)
    assert "\x1b" not in typed.out + typed.err


def test_all_folders_of_a_home_are_the_users_own(machine: Set) -> None:
    alice = machine("alice")
    alice.komnet("agent", "add", "dana-codex", "--repo", alice.remote.as_uri())
    folders = [alice.home, *(path for path in alice.home.rglob("*") if path.is_dir())]
    outer = [one for one in folders if "git" not in one.relative_to(alice.home).parts[:-1]]  # inside, git's own modes
    assert len(outer) > 6
    assert {str(one): oct(one.stat().st_mode & 0o777) for one in outer if one.stat().st_mode & 0o077} == {}


def test_a_unit_that_systemd_does_not_run_is_told_with_what_to_do_instead(
    machine: Set, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    alice, stand_in = machine("alice"), tmp_path / "bin" / "systemctl"
    stand_in.parent.mkdir()
    stand_in.write_text("#!/bin/sh\necho 'Created symlink' >&2\necho 'no bus here' >&2\nexit 1\n")
    stand_in.chmod(0o755)
    monkeypatch.setenv("PATH", f"{stand_in.parent}:{os.environ['PATH']}")
    monkeypatch.setenv("XDG_CONFIG_HOME", str(tmp_path / "config"))
    typed = alice.komnet("daemon", "install", code=1)
    assert "no bus here" in typed.err
    assert "Created symlink" not in typed.err
    assert "komnet daemon start" in typed.err
    assert "komnet daemon uninstall" in typed.err
    alice.komnet("daemon", "uninstall")


@pytest.mark.parametrize("name", ["Bad Name", "../../elsewhere", "a\x1b[31m"])
def test_what_can_be_no_agents_name_is_a_mistake_of_the_command_line(machine: Set, name: str) -> None:
    alice = machine("alice")
    for words in (("--agent", name, "status"), ("--agent", name, "send", "build", "x")):
        assert "\x1b" not in alice.komnet(*words, code=2).err
    alice.komnet("--agent", "bob", "status", code=6)


def test_a_network_that_was_not_entered_leaves_nothing_behind(machine: Set, tmp_path: Path) -> None:
    alice = machine("alice")
    other = tmp_path / "other.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(other)], check=True)
    work = tmp_path / "work"
    subprocess.run(["git", "clone", "-q", str(other), str(work)], check=True, capture_output=True)
    (work / "README").write_text("something else")
    for words in (["add", "."], ["commit", "-q", "-m", "x"], ["push", "-q", "origin", "HEAD:main"]):
        subprocess.run(["git", *words], cwd=work, check=True, capture_output=True)
    before = sorted(path.name for path in (alice.home / "networks").iterdir())
    for remote in (str(other), str(tmp_path / "nowhere.git")):
        alice.komnet("init", "--repo", remote, "--network", "second", code=1)
        assert sorted(path.name for path in (alice.home / "networks").iterdir()) == before
    alice.komnet("agent", "add", "dana-codex", "--repo", str(other), code=1)
    assert not (alice.home / "agents").exists()
    assert alice.komnet("status", "--json").json["networkId"] == "team"


def test_a_known_network_that_fails_once_stays_as_it_was(machine: Set) -> None:
    alice = machine("alice")
    alice.remote.rename(alice.remote.with_name("moved.git"))
    alice.komnet("init", "--repo", str(alice.remote), code=1)
    alice.remote.with_name("moved.git").rename(alice.remote)
    assert (alice.home / "networks" / "team").is_dir()
    assert alice.komnet("read", "build", "--json").code == 0


def test_the_doctor_names_what_was_found_wrong_in_the_repository(machine: Set) -> None:
    alice = machine("alice")
    path = "rooms/build/msg/2026/11/30/20261130T102000Z-mallory-99YTFG63X7.md"
    BareRemote(alice.remote).commit("room/build", {path: b"no post"})
    alice.komnet("sync")
    (line,) = [line for line in alice.komnet("doctor").out.splitlines() if path in line]
    assert line.startswith(f"! team: unreadable: {path} (")
