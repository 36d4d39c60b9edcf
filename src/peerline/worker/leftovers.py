"""Tools that outlived their harness: they run in groups of their own, and are known by the seat in their environment.

A harness that is killed cannot end them, and what they do would happen beside the turn that is run again. Only Linux
shows the environment of a process; elsewhere nothing is found.
"""

import os
import signal
from pathlib import Path
from typing import Final

from peerline.worker.seat import VARIABLE

ROUNDS: Final = 20  # one that is being killed may still start another


def found(seat: str, proc: Path = Path("/proc")) -> list[int]:
    """The processes of this user that were started under that seat."""
    mark = f"{VARIABLE}={seat}".encode()
    pids = []
    for folder in proc.glob("[0-9]*"):
        try:
            entries = (folder / "environ").read_bytes().split(b"\0")
        except OSError:
            continue  # another user's, or gone
        if mark in entries and int(folder.name) != os.getpid():
            pids.append(int(folder.name))
    return pids


def end(seat: str) -> list[int]:
    """Kill them all; which they were."""
    ended: list[int] = []
    for _ in range(ROUNDS):
        pids = found(seat)
        if not pids:
            break
        for pid in pids:
            try:
                os.kill(pid, signal.SIGKILL)
            except (ProcessLookupError, PermissionError):
                continue
        ended += [pid for pid in pids if pid not in ended]
    return ended
