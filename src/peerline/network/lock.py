"""One process of a home at a time moves branches of a network's repository; the kernel frees it with its holder."""

import fcntl
import os
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Final

from peerline.core.errors import Busy
from peerline.database.folder import private_folder

_STEP_S: Final = 0.02


@contextmanager
def branch_lock(
    path: Path,
    wait_s: float,
    *,
    monotonic: Callable[[], float] = time.monotonic,
    pause: Callable[[float], None] = time.sleep,
) -> Iterator[None]:
    """Hold the lock for the block. The file is never removed: a waiter would then lock one that nobody else sees.

    Raises:
        Busy: another process held it all the time.
    """
    private_folder(path.parent)
    file = os.open(path, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        until = monotonic() + wait_s
        while True:
            try:
                fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                break
            except BlockingIOError:
                left = until - monotonic()
                if left <= 0:
                    raise Busy(
                        "another process of this agent is talking to the remote; nothing is lost, it goes on by itself"
                    ) from None
                pause(min(_STEP_S, left))
        yield
    finally:
        os.close(file)
