"""Room on the disk: new work stops while there is still enough to finish what was accepted (R5)."""

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import Final

from peerline.core.errors import StorageFull

# Acknowledgements, replies, expiry and the checkpoint that lets the log start anew all have to fit.
KEEP_BYTES: Final = 16 << 20
KEEP_SHARE: Final = 4  # of a small disk no more than a quarter
LOOK_S: Final = 0.1  # between two looks at a disk with plenty left
PLENTY_BYTES: Final = 4 * KEEP_BYTES  # with less than this every call looks: a fast sender could pass the margin


def room(path: Path, monotonic: Callable[[], float] = time.monotonic) -> Callable[[], None]:
    """A check to call before something new is stored on the disk of `path`.

    Raises (when called):
        StorageFull: less is left than open work may need.
    """

    looked, left, enough = 0.0, 0, True  # nothing known yet: the first call looks

    def require() -> None:
        nonlocal looked, left, enough
        now = monotonic()
        if now - looked >= LOOK_S or left < PLENTY_BYTES:
            looked = now
            try:
                disk = os.statvfs(path)
            except OSError:
                return  # the write itself will say what is wrong
            left, whole = disk.f_bavail * disk.f_frsize, disk.f_blocks * disk.f_frsize
            enough = left >= min(KEEP_BYTES, whole // KEEP_SHARE)
        if not enough:
            text = f"the disk is almost full ({left >> 10} KiB left); nothing was stored"
            raise StorageFull(text, nextAction="free_disk_space", detail=text)

    return require
