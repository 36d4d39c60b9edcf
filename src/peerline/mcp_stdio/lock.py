"""The lock on a session's name: the system's own, on a file, so that it ends with its holder, however that ends."""

from __future__ import annotations

import os
import sys
from time import sleep

if sys.platform != "win32":
    import fcntl

TRIES, PAUSE_S = 4, 0.005


def lock_path(key_file: str) -> str:
    return key_file.removesuffix(".key") + ".lock"


def take(descriptor: int) -> bool:
    """Lock it for this process. A look of `taken` in another process lasts no longer than these tries."""
    if sys.platform == "win32":
        return True
    for _ in range(TRIES):
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            sleep(PAUSE_S)
        else:
            return True
    return False


def taken(path: str) -> bool:
    """Whether a living process has the name."""
    if sys.platform == "win32":
        return False
    try:
        descriptor = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC)
    except OSError:
        return False
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(descriptor)
    return False
