"""What all tests share: the `requirement` marker, and the count of promises that later parts owe."""

import pytest

from tests.requirements import CURRENT_PART, REQUIREMENTS


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "requirement(id, ...): promises of the seeds that this test proves")


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter) -> None:
    later = [wanted for wanted in REQUIREMENTS if wanted.part > CURRENT_PART]
    by_part = ", ".join(
        f"part {part}: {sum(wanted.part == part for wanted in later)}" for part in sorted({w.part for w in later})
    )
    terminalreporter.write_line(f"not yet: {len(later)} promises of later parts ({by_part})")


@pytest.fixture(scope="session")
def anyio_backend() -> str:
    return "asyncio"
