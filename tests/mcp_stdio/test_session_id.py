"""Which of the variables names the session of the client that started us."""

from pathlib import Path

import pytest

from peerline.mcp_stdio.session_id import session_id

BOTH = {"CLAUDE_CODE_SESSION_ID": "c0ffee-1", "OPENCODE_PID": "4711"}


def test_a_client_inside_another_ones_shell_does_not_take_that_ones_session() -> None:
    assert session_id("claude-code", BOTH) == "c0ffee-1"
    assert str(session_id("opencode", BOTH)).startswith("opencode-4711-")
    assert session_id("pi", BOTH) is None
    assert session_id("claude-code", {}) is None
    assert session_id("opencode", {}) is None


def test_two_folders_of_one_opencode_are_two_sessions(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = set()
    for name in ("one", "two"):
        (tmp_path / name).mkdir()
        monkeypatch.chdir(tmp_path / name)
        found.add(session_id("opencode", BOTH))
    assert len(found) == 2
