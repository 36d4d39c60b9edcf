"""What all tests share: the `requirement` marker, one hub process, and the count of promises that later parts owe."""

import itertools
import json
import signal
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.hub_process import ADMIN, Agent, HubProcess, Project
from tests.requirements import CURRENT_PART, REQUIREMENTS
from tests.truth import score

LISTED = {"listed-a": "token-of-listed-a", "listed-b": "token-of-listed-b"}
_numbers = itertools.count(1)


def pytest_configure(config: pytest.Config) -> None:
    # A shell starts what runs in the background with SIGINT ignored, nohup with SIGHUP; all below would inherit that.
    for ignored, normal in (
        (signal.SIGINT, signal.default_int_handler),
        (signal.SIGHUP, signal.SIG_DFL),
        (signal.SIGTERM, signal.SIG_DFL),
    ):
        if signal.getsignal(ignored) is signal.SIG_IGN:
            signal.signal(ignored, normal)
    config.addinivalue_line("markers", "requirement(id, ...): promises of the seeds that this test proves")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    later = [wanted for wanted in REQUIREMENTS if wanted.part > CURRENT_PART]
    by_part = ", ".join(
        f"part {part}: {sum(wanted.part == part for wanted in later)}" for part in sorted({w.part for w in later})
    )
    for line in score.lines(terminalreporter.stats):
        terminalreporter.write_line(line)
    terminalreporter.write_line(f"not yet: {len(later)} promises of later parts ({by_part})")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"


@pytest.fixture(scope="session", params=["protocol", "asgi"])
def hub_process(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    """One hub for all tests that need nothing but a project of their own; each test runs over both carriers of HTTP."""
    hub = HubProcess(
        tmp_path_factory.mktemp(f"hub-{request.param}"),
        KXM_PROJECT_TOKENS=json.dumps(LISTED),
        KXM_HTTP=request.param,
    )
    yield hub.start()
    hub.stop()


@pytest.fixture
def start_hub(tmp_path: Path) -> Iterator[Callable[..., HubProcess]]:
    """Start a hub of the test's own, with variables; stopped at the end."""
    started: list[HubProcess] = []

    def start(**variables: str) -> HubProcess:
        hub = HubProcess(tmp_path / f"hub-{len(started)}", **variables)
        started.append(hub.start())
        return hub

    yield start
    for hub in started:
        if hub.process.poll() is None:
            hub.stop()


def fresh_project(hub: HubProcess) -> Project:
    return Project(hub, f"project-{next(_numbers)}", hub.admin)


@pytest.fixture
def project(hub_process: HubProcess) -> Project:
    """A project that no other test has seen."""
    assert hub_process.admin == ADMIN
    return fresh_project(hub_process)


@pytest.fixture
def lead(project: Project) -> Agent:
    return project.register("lead")


@pytest.fixture
def reviewer(project: Project) -> Agent:
    return project.register("reviewer")
