"""Channels: the real client goes with our server through every check but the vendor's own switch, which is off here."""

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.clients.claude import Claude
from tests.hub_process import PATIENCE_S

SKIPPED = "Channel notifications skipped: "
SWITCH = "channels feature is not currently available"


@pytest.mark.requirement("MSG-CMD-CLAUDE-DEVELOPMENT")
def test_the_client_refuses_the_channel_at_the_vendors_switch_and_no_earlier(claude: Claude, tmp_path: Path) -> None:
    log = tmp_path / "debug.log"
    log.touch()
    flag = ("--dangerously-load-development-channels", "plugin:kxm@kxm")
    with claude.terminal(*flag, "--debug-file", str(log)), _lines(log) as lines:
        skipped = next(line for line in lines if SKIPPED in line)
    assert 'MCP server "plugin:kxm:kxm"' in skipped
    assert skipped.partition(SKIPPED)[2].startswith(SWITCH)


@contextmanager
def _lines(log: Path) -> Iterator[Iterator[str]]:
    """The lines of a file that is being written, as they come."""
    tail = subprocess.Popen(["tail", "-n", "+1", "-F", str(log)], stdout=subprocess.PIPE, text=True, errors="replace")
    assert tail.stdout is not None
    try:
        yield iter(tail.stdout)
    finally:
        tail.kill()
        tail.wait(PATIENCE_S)
        tail.stdout.close()
