from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.shell import Shell
from tests.hub_process import Project

ShellMaker = Callable[[str], Shell]


@pytest.fixture
def shell(tmp_path: Path, project: Project) -> ShellMaker:
    """A shell of this machine's user under a name; every name has one home."""
    return lambda name: Shell(tmp_path / (name or "nobody"), project, name)
