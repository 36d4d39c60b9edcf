"""R11: the hub dies under thousands of streams; all come back with jitter, each with the task that waited for it."""

import asyncio
import re
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from .victim import Victim, started

CLIENT = Path(__file__).parent / "storm_client.py"
BACK_WITHIN_S = 60.0
RSS_MOST_KB = 600 * 1024
SPARE_DESCRIPTORS = 20


class Client:
    def __init__(self, process: "subprocess.Popen[str]") -> None:
        self._process = process

    def ask(self, command: str) -> dict[str, float]:
        """The numbers of its answer, by the word before each."""
        assert self._process.stdin is not None
        assert self._process.stdout is not None
        self._process.stdin.write(f"{command}\n")
        self._process.stdin.flush()
        line = self._process.stdout.readline()
        assert line, f"the client ended at {command}"
        return {word: float(number) for word, number in re.findall(r"(\w+) ([\d.]+)", line)}


@contextmanager
def clients(port: int, count: int) -> Iterator[Client]:
    process = subprocess.Popen(
        [sys.executable, str(CLIENT), str(port), str(count)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    )
    try:
        yield Client(process)
    finally:
        process.kill()
        process.wait(30)


def resident_kb(hub: Victim) -> int:
    status = Path(f"/proc/{hub.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])  # type: ignore[index]


def descriptors(hub: Victim) -> int:
    return len(list(Path(f"/proc/{hub.process.pid}/fd").iterdir()))


@pytest.mark.parametrize("streams", [200, pytest.param(10_000, marks=[pytest.mark.slow, pytest.mark.timeout(400)])])
def test_all_streams_come_back_with_what_waited_for_them(
    tmp_path: Path, streams: int, say: Callable[[str], None]
) -> None:
    if sys.platform != "linux":
        pytest.skip("needs /proc, and source addresses all over 127.0.0.0/8")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = streams + 1_000
    if hard != resource.RLIM_INFINITY and hard < wanted:
        pytest.skip(f"needs {wanted} open files, the hard limit is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, wanted), hard))
    try:
        with started(tmp_path) as hub:
            before = descriptors(hub)
            with clients(hub.port, streams) as client:
                assert client.ask("register") == {"registered": streams}
                client.ask("open")
                sent = client.ask("send")
                assert sent["sent"] == streams - 1
                hub.kill()
                hub.start(KXM_PORT=str(hub.port))
                back = client.ask(f"moved {hub.port}")
                assert (back["back"], back["offered"]) == (streams, streams - 1)
                resident = resident_kb(hub)
            say(
                f"{streams} streams back in {back['took']:.1f} s, {resident // 1024} MB resident, "
                f"slowest send {sent['slowest']:.2f} s"
            )
            assert back["took"] <= BACK_WITHIN_S
            assert resident <= RSS_MOST_KB
            asyncio.run(descriptors_come_back(hub, before))
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


async def descriptors_come_back(hub: Victim, before: int) -> None:
    """The clients are gone, and soon so is everything the hub held open for them."""
    connection = hub.connection()
    async with asyncio.timeout(60):
        while descriptors(hub) > before + SPARE_DESCRIPTORS:
            await connection.ask("GET", "/health")
    connection.close()
