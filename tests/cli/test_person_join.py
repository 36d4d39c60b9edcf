"""`peerline join`, with a real repository."""

import subprocess
from pathlib import Path

from tests.cli.test_kxm import run


def test_it_says_who_one_is_and_who_reads_what_one_sends(tmp_path: Path) -> None:
    subprocess.run(["git", "init", "-q", "--bare", "-b", "main", str(tmp_path / "team.git")], check=True)
    first = run(tmp_path, "peerline", "join", str(tmp_path / "team.git"), "--agent", "alice-cli")
    assert first.code == 0, first.stderr
    assert "You have made the network team as alice-cli" in first.stdout
    again = run(tmp_path, "peerline", "join", str(tmp_path / "team.git"))
    assert "You have joined the network team as alice-cli" in again.stdout


def test_a_repository_that_is_not_there_leaves_nothing_behind(tmp_path: Path) -> None:
    ran = run(tmp_path, "peerline", "join", str(tmp_path / "nowhere.git"))
    assert ran.code == 1
    assert "does not answer" in ran.stderr
    assert "Traceback" not in ran.stderr
    assert not list(tmp_path.rglob("config.yaml"))
