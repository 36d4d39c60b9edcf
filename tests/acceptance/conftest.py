from collections.abc import Callable
from pathlib import Path

import pytest

from tests.acceptance.shell import Shell
from tests.conftest import fresh_project
from tests.hub_process import HubProcess, Project

ShellMaker = Callable[[str], Shell]


@pytest.fixture
def project(hub_process: HubProcess) -> Project:
    """A fresh project with a token of its own, as an operator is given one: never the admin's."""
    fresh = fresh_project(hub_process)
    (socket,) = (hub_process.home / "state").glob("hub-*.sock")
    answer = hub_process.call("POST", "/v1/local/token", {"project": fresh.name}, address=str(socket))
    assert answer.status == 201, answer.body
    return Project(hub_process, fresh.name, answer.json["token"])


@pytest.fixture
def shell(tmp_path: Path, project: Project) -> ShellMaker:
    """A shell of the user of this test's machine under a name; every name has one home."""
    return lambda name: Shell(tmp_path / (name or "nobody"), project, name)


@pytest.fixture
def lead(shell: ShellMaker) -> Shell:
    return shell("lead")
