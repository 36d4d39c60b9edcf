"""The rate limit as the command line meets it, against a hub of its own."""

from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.shell import Shell
from tests.hub_process import HubProcess, Project


@pytest.mark.requirement("MSG-ERR-RATE-LIMITED")
def test_a_rate_limited_command_says_so(start_hub: Callable[..., HubProcess], tmp_path: Path) -> None:
    hub = start_hub(KXM_RATE_LIMIT_MAX="1", KXM_RATE_LIMIT_WINDOW_MS="3600000")
    assert hub.call("GET", "/nowhere").status == 404
    limited = Shell(tmp_path / "limited", Project(hub, "demo", hub.admin), "lead")
    assert limited.peer("list").detail == "request rate limit exceeded"
