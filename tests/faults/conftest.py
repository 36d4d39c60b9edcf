"""What the fault campaigns share: a way to say their figures, and processes and mounts that never outlive a test."""

from collections.abc import Callable

import pytest


@pytest.fixture
def say(capsys: pytest.CaptureFixture[str], request: pytest.FixtureRequest) -> Callable[[str], None]:
    """Print a campaign's figures past pytest's capture."""

    def line(text: str) -> None:
        with capsys.disabled():
            print(f"\n[{request.node.name}] {text}")

    return line
