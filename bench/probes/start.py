"""P9: from starting the hub's process until it answers `/ready`, beside a Python that does nothing; its idle memory."""

from collections.abc import Sequence
from statistics import median
from time import perf_counter
from typing import Final

from bench.probes.timing import timed
from bench.proc import resident_bytes
from bench.run import Run
from bench.servers import hub
from bench.targets import Reading

TIMES: Final = 5


class Start:
    """The hub of a wheel installed with compiled files, each time on a new state folder."""

    def packages(self) -> list[str]:
        return []

    def prepare(self, run: Run) -> None:
        pass

    def measure(self, run: Run, loads: Sequence[str]) -> dict[Reading, float]:
        python = run.product / "python"
        starts, idle, nothing = [], [], []
        for _ in range(TIMES):
            nothing.append(timed([python, "-c", "pass"]))
            with run.folder() as folder:
                began = perf_counter()
                with hub.start(folder, {}, run.product) as server:
                    starts.append(perf_counter() - began)
                    idle.append(resident_bytes(server.pid))
        return {
            Reading("start", "hub", "ms"): median(starts) * 1000,
            Reading("start", "python", "ms"): median(nothing) * 1000,
            Reading("start", "hub", "mb"): median(idle) / 1e6,
        }
