"""P8: what 10,000 open and idle streams cost the hub, in memory each and in the p50 of those at work."""

import json
import resource
import subprocess
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from bench.environment import REPOSITORY, Missing
from bench.proc import resident_bytes
from bench.run import Failed, Run
from bench.servers import hub
from bench.servers.process import Process
from bench.targets import Reading

STREAMS: Final = 10_000
FILES: Final = STREAMS + 1_000
LOAD: Final = "8"


class IdleStreams:
    def packages(self) -> list[str]:
        return []

    def prepare(self, run: Run) -> None:
        soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
        if soft >= FILES:
            return
        if hard != resource.RLIM_INFINITY and hard < FILES:
            raise Missing(f"{FILES} open files are needed, ulimit -Hn is {hard}")
        resource.setrlimit(resource.RLIMIT_NOFILE, (FILES, hard))

    def measure(self, run: Run, loads: Sequence[str]) -> dict[Reading, float]:
        streams = STREAMS // 10 if run.quick else STREAMS
        with run.folder() as folder, hub.start(folder, {}, run.product) as server:
            without = run.load("hub", server, LOAD)
            with _streams(run, server, streams) as idle:
                _heard(idle, "registered")
                before = resident_bytes(server.pid)
                _go_on(idle)
                _heard(idle, "open")
                after = resident_bytes(server.pid)
                beside = run.load("hub", server, LOAD)
                if idle.poll() is not None:
                    raise Failed("the idle streams did not hold")
        return {
            Reading("idle", "stream", "kb"): (after - before) / streams / 1000,
            Reading("idle", "with", "p50"): beside["p50"],
            Reading("idle", "without", "p50"): without["p50"],
        }


@contextmanager
def _streams(run: Run, server: Process, streams: int) -> Iterator["subprocess.Popen[str]"]:
    process = subprocess.Popen(
        [run.clients / "python", "-m", "bench.idle", json.dumps({**server.address, "streams": streams})],
        cwd=REPOSITORY,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    try:
        yield process
    finally:
        process.kill()
        process.communicate()


def _heard(idle: "subprocess.Popen[str]", word: str) -> None:
    assert idle.stdout is not None
    if idle.stdout.readline().strip() != word:
        raise Failed(f"the idle streams never were {word}")


def _go_on(idle: "subprocess.Popen[str]") -> None:
    assert idle.stdin is not None
    idle.stdin.write("\n")
    idle.stdin.flush()
