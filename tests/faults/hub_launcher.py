"""Starts the hub for a fault test: `kxm hub start` with one thing changed, chosen by variables.

FAULT_KILL_AT     name of a probe point; at its FAULT_KILL_HIT-th hit the process kills itself with SIGKILL
FAULT_SYNCHRONOUS the control of the power cuts: a weaker setting than the hub has
"""

import os
import signal
import sys
from collections.abc import Callable

import apsw


def killer() -> Callable[[str], None] | None:
    point = os.environ.get("FAULT_KILL_AT")
    if not point:
        return None
    left = int(os.environ["FAULT_KILL_HIT"])

    def probe(reached: str) -> None:
        nonlocal left
        if reached == point:
            left -= 1
            if left == 0:
                os.kill(os.getpid(), signal.SIGKILL)

    return probe


def weaken(setting: str) -> None:
    """Must run before anything imports the opener by name."""
    from peerline.database import connection

    strong = connection.open_writer

    def weak(path: str, vfs: str | None = None) -> apsw.Connection:
        opened = strong(path, vfs)
        opened.pragma("synchronous", setting)
        return opened

    connection.open_writer = weak


def main() -> None:
    if setting := os.environ.get("FAULT_SYNCHRONOUS"):
        weaken(setting)
    from peerline.cli import compose

    probe = killer()
    sys.exit(compose.serve(os.environ, probe=probe))


if __name__ == "__main__":
    main()
