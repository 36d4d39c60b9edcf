"""Key pairs for tests, made by the real ssh-keygen; nothing outside the folder given is touched."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ENVIRON = {"PATH": os.environ.get("PATH", os.defpath), "HOME": "/nonexistent"}

needs_ssh_keygen = pytest.mark.skipif(shutil.which("ssh-keygen") is None, reason="ssh-keygen is not installed")


def new_key(folder: Path, name: str, passphrase: str = "") -> Path:
    path = folder / name
    words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", passphrase, "-C", f"{name}@test", "-f", str(path)]
    subprocess.run(words, check=True, capture_output=True, stdin=subprocess.DEVNULL)
    return path


def public(key: Path) -> str:
    return key.with_name(f"{key.name}.pub").read_text()
