"""Sessions of agents that end with their test."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hub_process import Project
from tests.mcp_stdio.session import AgentSession

Open = Callable[..., AgentSession]


@pytest.fixture
def sessions() -> Iterator[list[AgentSession]]:
    opened: list[AgentSession] = []
    yield opened
    for session in opened:
        session.stop()


@pytest.fixture
def open_session(tmp_path: Path, project: Project, sessions: list[AgentSession]) -> Open:
    """Open a session of the project under a name, and wait until it is on the hub; those of one `user` share a home."""

    def opening(name: str, *, user: str = "user", **given: str) -> AgentSession:
        variables = {"KXM_AGENT_NAME": name, "KXM_AUTH_TOKEN": project.token} | given
        session = AgentSession(tmp_path / user, project.hub, project.name, **variables)
        sessions.append(session)
        session.open().call("kxm_list")
        return session

    return opening
