"""The load process: N pairs of agents do durable round trips with one system; prints one JSON line.

Runs in the bench's own environment as `python -m bench.drive '<job as JSON>'`, apart from the server it loads.
"""

import asyncio
import gc
import json
import sys
from importlib import import_module
from time import perf_counter
from typing import Protocol

import uvloop

from bench.job import Job
from bench.proc import cpu_seconds, resident_bytes
from bench.window import Window

STOP_WITHIN_S = 20


class Driver(Protocol):
    async def open(self) -> None:
        """Connect, register and subscribe every agent."""
        ...

    async def load(self, window: Window) -> None:
        """Do round trips with all pairs at once until the window shuts; raises if one goes wrong."""
        ...

    async def close(self) -> None: ...


async def drive(job: Job) -> dict[str, float]:
    driver: Driver = import_module(f"bench.drivers.{job.driver}").Pairs(job.address, job.pairs, job.body)
    window = Window()
    await driver.open()
    gc.collect()
    gc.freeze()
    load = asyncio.create_task(driver.load(window))
    await asyncio.wait([load], timeout=job.warm_up_s)
    cpu, began = cpu_seconds(job.pid), perf_counter()
    window.open()
    await asyncio.wait([load], timeout=job.seconds)
    window.shut()
    seconds, cpu = perf_counter() - began, cpu_seconds(job.pid) - cpu
    await asyncio.wait_for(load, STOP_WITHIN_S)
    memory = resident_bytes(job.pid)
    await driver.close()
    return {**figures(window.latencies, seconds, cpu), "mb": memory / 1e6}


def figures(latencies: list[float], seconds: float, cpu: float) -> dict[str, float]:
    """Round trips a second, latencies in ms, server CPU a round trip in µs.

    Raises:
        ValueError: not one round trip ended in the window.
    """
    if not latencies:
        raise ValueError("no round trip ended in the measured time")
    return {"rate": len(latencies) / seconds, **spread(latencies), "cpu": cpu / len(latencies) * 1e6}


def spread(latencies: list[float]) -> dict[str, float]:
    """p50 and p99 in ms, of at least one latency in seconds."""
    ordered = sorted(latencies)
    return {"p50": ordered[len(ordered) // 2] * 1000, "p99": ordered[len(ordered) * 99 // 100] * 1000}


def main() -> None:
    job = Job(**json.loads(sys.argv[1]))
    print(json.dumps(uvloop.run(drive(job))), flush=True)


if __name__ == "__main__":
    main()
