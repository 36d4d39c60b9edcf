"""Tests with the real clients: `make test-clients` installs them first; a missing one fails, it is not skipped."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.clients import latency
from tests.clients.claude import Claude
from tests.clients.model.endpoint import Endpoint
from tests.hub_process import Agent, HubProcess, Project

PROJECT = "shop"


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    here = Path(__file__).parent
    for item in items:
        if item.path.is_relative_to(here) and item.path.parent != here / "model":
            item.add_marker(pytest.mark.clients)


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    for line in latency.lines():
        terminalreporter.write_line(line)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Side by side, each process hands the figures over to the one that prints."""
    if (output := getattr(session.config, "workeroutput", None)) is not None:
        output["latency"] = latency.taken()


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    latency.add(getattr(node, "workeroutput", {}).get("latency", {}))


@pytest.fixture
def model() -> Iterator[Endpoint]:
    with Endpoint() as endpoint:
        yield endpoint


@pytest.fixture
def hub(start_hub: Callable[..., HubProcess]) -> HubProcess:
    return start_hub()


@pytest.fixture
def shop(hub: HubProcess) -> Project:
    """The project that the clients work in, as a peer on the same machine sees it."""
    return Project(hub, PROJECT, hub.admin)


@pytest.fixture
def lead(shop: Project) -> Agent:
    """A peer of theirs."""
    return shop.register("lead")


@pytest.fixture
def claude(tmp_path: Path, hub: HubProcess, model: Endpoint) -> Claude:
    """Claude Code as the agent `builder`, its plugin installed."""
    client = Claude(tmp_path / "user", hub, model, options={"agent_name": "builder", "project": PROJECT})
    client.set_up()
    return client
