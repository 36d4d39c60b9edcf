"""Scenes on a hub with small limits; those that need another one start it."""

import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.conftest import fresh_project
from tests.hub_process import HubProcess
from tests.truth.scene import PAIR_LIMIT, QUEUE_LIMIT, Scene


@pytest.fixture(scope="session")
def strict_hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[HubProcess]:
    limits = {"KXM_PAIR_LIMIT": str(PAIR_LIMIT), "KXM_QUEUE_LIMIT": str(QUEUE_LIMIT)}
    hub = HubProcess(tmp_path_factory.mktemp("strict"), **limits)
    yield hub.start()
    hub.stop()


@pytest.fixture
def scene(tmp_path: Path, strict_hub: HubProcess, start_hub: Callable[..., HubProcess]) -> Iterator[Scene]:
    made = Scene(tmp_path, fresh_project(strict_hub), start_hub)
    yield made
    made.end()


@pytest.fixture
def small_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of 64 MB."""
    if sys.platform != "linux" or os.geteuid() != 0:
        pytest.skip("a small disk needs root on Linux: it mounts a tmpfs")
    at = tmp_path / "small-disk"
    at.mkdir()
    subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64m", "tmpfs", at], check=True)
    yield at
    subprocess.run(["umount", "--lazy", at], check=True)
