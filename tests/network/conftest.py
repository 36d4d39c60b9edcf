from pathlib import Path

import pytest

from tests.network.remotes import BareRemote


@pytest.fixture
def remote(tmp_path: Path) -> BareRemote:
    return BareRemote(tmp_path / "remote.git")


@pytest.fixture
def environ(tmp_path: Path) -> dict[str, str]:
    """A user's environment with an empty home."""
    import os

    home = tmp_path / "home"
    home.mkdir()
    return {"PATH": os.environ["PATH"], "HOME": str(home)}
