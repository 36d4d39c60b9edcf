"""The time of a whole process, from its start to its end."""

import subprocess
from collections.abc import Sequence
from pathlib import Path
from time import perf_counter

from bench.run import Failed


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
