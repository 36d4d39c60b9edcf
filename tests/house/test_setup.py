"""Setting up on a machine where something is missing says what, and by which command it comes."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from tests.house.tracked import ROOT

NEEDED = ("setup", "test", "pyproject.toml", "constraints.txt", "constraints-dev.txt", "src/peerline/__init__.py")


@pytest.fixture
def copy(tmp_path: Path) -> Path:
    """What `setup` reads, in an empty folder."""
    for name in NEEDED:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
        shutil.copy(ROOT / name, tmp_path / name)
    return tmp_path


def _command(folder: Path, name: str, script: str) -> None:
    folder.mkdir(exist_ok=True)
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)


def _run(copy: Path, *words: str, path: str) -> subprocess.CompletedProcess[str]:
    environment = {"PATH": path, "HOME": str(copy)}
    return subprocess.run(words, cwd=copy, env=environment, capture_output=True, text=True, check=False, timeout=60)


def test_a_python_that_is_too_old_is_named_with_what_to_install(copy: Path) -> None:
    bin_ = copy / "bin"
    for name in ("python3", "python3.11", "python3.12", "python3.13"):
        _command(bin_, name, 'case "$1" in --version) echo "Python 3.9.2";; *) exit 1;; esac')
    ran = _run(copy, "./setup", path=f"{bin_}:/usr/bin:/bin")
    assert ran.returncode == 1
    assert "needs Python 3.11 or newer; found: Python 3.9.2" in ran.stderr
    assert "sudo apt-get install python3 python3-venv" in ran.stderr
    assert not (copy / ".venv").exists()


def test_a_missing_venv_module_is_named_with_what_to_install(copy: Path) -> None:
    bin_ = copy / "bin"
    _command(bin_, "python3", f'case "$*" in *ensurepip*) exit 1;; esac\nexec {sys.executable} "$@"')
    ran = _run(copy, "./setup", path=f"{bin_}:/usr/bin:/bin")
    assert ran.returncode == 1
    assert "sudo apt-get install python3-venv" in ran.stderr
    assert not (copy / ".venv").exists()


def test_a_missing_git_is_named_with_what_to_install(copy: Path) -> None:
    bin_ = copy / "bin"
    for name in ("dirname",):
        bin_.mkdir(exist_ok=True)
        (bin_ / name).symlink_to(shutil.which(name) or name)
    ran = _run(copy, "/bin/sh", "test", path=str(bin_))
    assert ran.returncode == 1
    assert "sudo apt-get install git" in ran.stderr


def test_what_is_ready_is_left_alone(copy: Path) -> None:
    bin_ = copy / "bin"
    _command(bin_, "python3", "echo python ran >&2; exit 1")
    (copy / ".venv").mkdir()
    pins = ("pyproject.toml", "constraints-dev.txt", "src/peerline/__init__.py", "setup")
    sum_ = subprocess.run(
        "cat " + " ".join(pins) + " | cksum", shell=True, cwd=copy, capture_output=True, text=True, check=True
    )
    (copy / ".venv" / ".ready-dev").write_text(f"{os.path.realpath(copy)} {sum_.stdout.strip()}")
    ran = _run(copy, "./setup", path=f"{bin_}:/usr/bin:/bin")
    assert (ran.returncode, ran.stdout, ran.stderr) == (0, "", "")


def test_an_unknown_word_is_refused(copy: Path) -> None:
    ran = _run(copy, "./setup", "everything", path="/usr/bin:/bin")
    assert (ran.returncode, ran.stderr) == (2, "usage: ./setup [run|dev]\n")
