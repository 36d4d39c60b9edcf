"""Two machines on one real repository, each typing `komnet` in this process."""

import json
import subprocess
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from peerline.cli.komnet.app import main


@dataclass
class Typed:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)


@dataclass
class Machine:
    """One agent's machine."""

    agent: str
    home: Path
    remote: Path
    run: Callable[[str, tuple[str, ...]], Typed]

    def komnet(self, *words: str, code: int = 0) -> Typed:
        typed = self.run(self.agent, words)
        assert typed.code == code, typed.out + typed.err
        assert "Traceback" not in typed.err
        return typed


@pytest.fixture
def machine(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> Callable[[str], Machine]:
    """Sets a machine up: `machine("alice")` is in the network and follows the room `build`."""
    remote = tmp_path / "team.git"
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(remote)], check=True)

    def run(agent: str, words: tuple[str, ...]) -> Typed:
        home = tmp_path / agent
        home.mkdir(exist_ok=True)
        for name, value in (("HOME", home), ("KOMNET_HOME", home / ".komnet"), ("USER", agent)):
            monkeypatch.setenv(name, str(value))
        for who in ("AUTHOR", "COMMITTER"):
            monkeypatch.setenv(f"GIT_{who}_NAME", agent)
            monkeypatch.setenv(f"GIT_{who}_EMAIL", f"{agent}@example.test")
        monkeypatch.delenv("KOMNET_AGENT", raising=False)
        capfd.readouterr()
        code = main(list(words))
        out, err = capfd.readouterr()
        return Typed(code, out, err)

    made: list[str] = []

    def set_up(agent: str) -> Machine:
        machine = Machine(agent, tmp_path / agent / ".komnet", remote, run)
        machine.komnet("init", "--repo", str(remote), "--agent", agent)
        machine.komnet("room", "join" if made else "create", "build")
        made.append(agent)
        return machine

    return set_up
