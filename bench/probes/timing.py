"""The time of a whole process, from its start to its end; and of several works in turn."""

import subprocess
from collections.abc import Callable, Sequence
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import TypeVar

from bench.run import Failed

Key = TypeVar("Key")


def timed(command: Sequence[str | Path], env: dict[str, str] | None = None, cwd: Path | None = None) -> float:
    """Seconds; raises Failed when it exits with anything but 0, since a quick refusal is no measurement."""
    began = perf_counter()
    done = subprocess.run(
        command, env=env, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=60, check=False
    )
    took = perf_counter() - began
    if done.returncode:
        raise Failed(f"{command[0]}: exit {done.returncode}: {(done.stdout + done.stderr).decode()[-400:]}")
    return took


def in_turn(times: int, works: dict[Key, Callable[[], object]]) -> dict[Key, float]:
    """The median of each, one after another in turn, so that a busy second meets all of them; the first is not
    counted."""
    took: dict[Key, list[float]] = {name: [] for name in works}
    for _ in range(times + 1):
        for name, work in works.items():
            began = perf_counter()
            work()
            took[name].append(perf_counter() - began)
    return {name: median(all_[1:]) for name, all_ in took.items()}
