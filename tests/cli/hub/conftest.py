from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.cli.hub.shell import Operator


@pytest.fixture
def operator(tmp_path: Path) -> Iterator[Operator]:
    """Somebody at an empty home; a hub left running in the background is stopped at the end."""
    someone = Operator(tmp_path / "home")
    yield someone
    if (someone.state / "hub.pid").exists():
        someone.hub("stop", "--wait-ms", "30000")
