"""What this run ran on, in one line, so that two runs are not compared by their absolute figures."""

import os
import platform
from pathlib import Path
from statistics import median
from time import perf_counter

from bench import environment

SYNCS = 200


def about(data: Path) -> str:
    return (
        f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f}, {platform.system()} {platform.release()}, "
        f"Python {environment.version()}, fdatasync {sync_ms(data):.2f} ms"
    )


def sync_ms(folder: Path) -> float:
    """The median of appending 4 KB and syncing them."""
    took = []
    with (folder / "sync").open("wb", buffering=0) as file:
        for _ in range(SYNCS):
            file.write(b"x" * 4096)
            began = perf_counter()
            os.fdatasync(file.fileno())
            took.append(perf_counter() - began)
    return median(took) * 1000
