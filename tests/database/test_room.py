"""Room on the disk is looked at often enough."""

import os
from pathlib import Path
from types import SimpleNamespace

import pytest

from peerline.core.errors import StorageFull
from peerline.database.room import KEEP_BYTES, room


def test_a_disk_with_little_left_is_looked_at_on_every_call(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    left = [2 * KEEP_BYTES, KEEP_BYTES - 1]
    disk = 100 * KEEP_BYTES
    monkeypatch.setattr(os, "statvfs", lambda _: SimpleNamespace(f_bavail=left.pop(0), f_frsize=1, f_blocks=disk))
    require = room(tmp_path, monotonic=lambda: 1.0)
    require()
    with pytest.raises(StorageFull):
        require()
