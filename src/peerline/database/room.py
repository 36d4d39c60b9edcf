"""Room on the disk: new work stops while there is still enough to finish what was accepted (R5)."""

import os
from collections.abc import Callable
from pathlib import Path
from typing import Final

from peerline.core.errors import StorageFull

# Acknowledgements, replies, expiry and the checkpoint that lets the log start anew all have to fit.
KEEP_BYTES: Final = 16 << 20
KEEP_SHARE: Final = 4  # of a small disk no more than a quarter


def room(path: Path) -> Callable[[], None]:
    """A check to call before something new is stored on the disk of `path`.

    Raises (when called):
        StorageFull: less is left than open work may need.
    """

    def require() -> None:
        try:
            disk = os.statvfs(path)
        except OSError:
            return  # the write itself will say what is wrong
        left, whole = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
        if left < min(KEEP_BYTES, whole // KEEP_SHARE):
            text = f"the disk is almost full ({left >> 10} KiB left); nothing was stored"
            raise StorageFull(text, nextAction="free_disk_space", detail=text)

    return require
