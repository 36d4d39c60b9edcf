"""R9 and R10: who does not read, or sends a byte at a time, is cut off in time and is nobody else's problem."""

import asyncio
import re
import resource
import socket
import sys
import threading
import time
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path

import pytest

from .connection import Connection
from .history import History
from .peers import Peer, admit
from .raw_peers import Misbehaving, opened
from .victim import Victim, started

HOST = b"host: 127.0.0.1:%d\r\n"
SLACK_S = 2.0
STALL_S = 45.0
NEVER_READING = 200
SPARE_DESCRIPTORS = 20  # files of its own that the hub opens when it first needs them
NORMAL_P99_S = 0.2
GROWTH_MOST_KB = 100 * 1024


def kinds(port: int, count: int) -> list[Misbehaving]:
    host = HOST % port
    post = b"POST /v1/messages HTTP/1.1\r\n" + host + b"content-type: application/json\r\ncontent-length: 5000\r\n\r\n"
    return [
        peer
        for _ in range(count)
        for peer in (
            Misbehaving("silent", b""),
            Misbehaving("header by bytes", b"GET /health HTTP/1.1\r\n", b"x-slow: " + b"a" * 4_000),
            Misbehaving("headers by lines", b"GET /health HTTP/1.1\r\n" + host, b"a: b\r\n" * 800),
            Misbehaving("body by bytes", post, b"{" + b" " * 4_990),
        )
    ]


def resident_kb(hub: Victim) -> int:
    status = Path(f"/proc/{hub.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])  # type: ignore[index]


class Normal:
    """An honest client at work all the while, in a thread of its own; `times` are of its requests."""

    def __init__(self, hub: Victim) -> None:
        self._hub = hub
        self._stop = threading.Event()
        self._thread = threading.Thread(target=lambda: asyncio.run(self._work()))
        self.times: list[float] = []
        self.errors: list[str] = []

    def __enter__(self) -> "Normal":
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._stop.set()
        self._thread.join()

    async def _work(self) -> None:
        connection = Connection(self._hub.port)
        headers = await admit(connection, "honest")
        while not await asyncio.to_thread(self._stop.wait, 0.02):
            began = time.monotonic()
            answer = await connection.ask("GET", "/v1/agents", None, headers)
            self.times.append(time.monotonic() - began)
            if answer.status != 200:
                self.errors.append(f"{answer.status} {answer.body!r}")
        connection.close()

    @property
    def p99(self) -> float:
        return sorted(self.times)[int(len(self.times) * 0.99) - 1]


@pytest.mark.parametrize(
    ("count", "header_ms", "body_ms"),
    [(25, 1_000, 2_000), pytest.param(500, 15_000, 30_000, marks=[pytest.mark.slow, pytest.mark.timeout(180)])],
)
def test_who_sends_a_byte_at_a_time_is_cut_off_in_time(
    tmp_path: Path, count: int, header_ms: int, body_ms: int, say: Callable[[str], None]
) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 4 * count + 500:
        pytest.skip(f"needs {4 * count + 500} open files, the hard limit is {hard}")
    resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4 * count + 500), hard))
    settings = {"KXM_HEADER_TIMEOUT_MS": str(header_ms), "KXM_BODY_TIMEOUT_MS": str(body_ms)}
    try:
        with started(tmp_path, settings=settings) as hub, Normal(hub) as normal:
            before = resident_kb(hub) if sys.platform == "linux" else 0
            peers = kinds(hub.port, count)
            with opened(hub.port, peers) as drive:
                drive(max(header_ms, body_ms) / 1000 + 10)
                grown = resident_kb(hub) - before if sys.platform == "linux" else 0
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
    assert [peer.kind for peer in peers if peer.closed_after_s is None] == []
    longest: dict[str, float] = {}
    for peer in peers:
        longest[peer.kind] = max(longest.get(peer.kind, 0.0), peer.closed_after_s or 0.0)
        assert b"Traceback" not in peer.got
    say(
        f"{len(peers)} connections; closed at the latest: "
        + ", ".join(f"{kind} {seconds:.1f} s" for kind, seconds in longest.items())
        + f"; honest p99 {normal.p99 * 1000:.0f} ms; {grown // 1024} MB more"
    )
    for kind, seconds in longest.items():
        assert seconds <= (body_ms if kind == "body by bytes" else header_ms) / 1000 + SLACK_S
    assert normal.errors == []
    if count >= 500:
        assert normal.p99 <= NORMAL_P99_S
    assert grown <= GROWTH_MOST_KB


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_who_asks_and_never_reads_the_answers_is_cut_off_in_time(tmp_path: Path, say: Callable[[str], None]) -> None:
    if sys.platform != "linux":
        pytest.skip("needs /proc")
    with started(tmp_path) as hub, Normal(hub) as normal:
        before, open_before = resident_kb(hub), descriptors(hub)
        asking = (b"GET /openapi.json HTTP/1.1\r\n" + HOST % hub.port + b"\r\n") * 100
        began = time.monotonic()
        with ExitStack() as stack:
            for _ in range(NEVER_READING):
                sock = stack.enter_context(socket.socket())
                sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
                sock.connect(("127.0.0.1", hub.port))
                sock.sendall(asking)
            asyncio.run(until(lambda: descriptors(hub) >= open_before + NEVER_READING))
            longest = asyncio.run(until(lambda: descriptors(hub) <= open_before + SPARE_DESCRIPTORS)) - began
            grown = resident_kb(hub) - before
    say(f"{NEVER_READING} that never read, let go after {longest:.1f} s at the latest; {grown // 1024} MB more")
    assert longest <= STALL_S + SLACK_S
    assert normal.errors == []
    assert normal.p99 <= NORMAL_P99_S
    assert grown <= GROWTH_MOST_KB


def descriptors(hub: Victim) -> int:
    return len(list(Path(f"/proc/{hub.process.pid}/fd").iterdir()))


async def until(so: Callable[[], bool]) -> float:
    """When it was so; looked at a few times a second, since neither /proc nor a client that reads nothing tells."""
    nothing = asyncio.get_running_loop().create_future()
    async with asyncio.timeout(90):
        while not so():
            await asyncio.wait({nothing}, timeout=0.2)
    return time.monotonic()


def silent_stream(port: int, peer: Peer) -> socket.socket:
    """A stream with a small receive buffer that nobody reads."""
    sock = socket.socket()
    sock.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4_096)
    sock.settimeout(60)
    sock.connect(("127.0.0.1", port))
    headers = "".join(f"{name}: {value}\r\n" for name, value in peer.headers.items())
    sock.sendall(
        f"GET /v1/events?agentId={peer.id} HTTP/1.1\r\nhost: 127.0.0.1:{port}\r\n{headers}\r\n".encode("latin-1")
    )
    return sock


@pytest.mark.parametrize(
    ("messages", "size"),
    [(600, 20_000), pytest.param(10_000, 4_000, marks=[pytest.mark.slow, pytest.mark.timeout(300)])],
)
def test_a_stream_that_nobody_reads_costs_little_and_loses_nothing(
    tmp_path: Path, messages: int, size: int, say: Callable[[str], None]
) -> None:
    history = History()
    limits = {"KXM_QUEUE_LIMIT": str(messages + 10)}

    async def send_all(asker: Peer, target: str, lanes: int) -> None:
        peers = [Peer("asker", history, Connection(asker.connection.port)) for _ in range(lanes)]

        async def lane(which: int) -> None:
            peers[which].headers = asker.headers
            for number in range(which, messages, lanes):
                answer = await peers[which].send(target, f"{number} " + "x" * size, None)
                assert answer.status == 202, answer.body
            peers[which].connection.close()

        await asyncio.gather(*map(lane, range(lanes)))

    async def run(hub: Victim) -> tuple[int, int]:
        asker, slow = Peer("asker", history, hub.connection()), Peer("slow", history, hub.connection())
        await asker.register()
        await slow.register()
        before = resident_kb(hub) if sys.platform == "linux" else 0
        sock = silent_stream(hub.port, slow)
        try:
            await send_all(asker, "slow", 16)
        finally:
            sock.close()
        grown = resident_kb(hub) - before if sys.platform == "linux" else 0
        # A reader comes back for them: each is offered again, none was used up by the stream that nobody read.
        mark = len(history.operations)
        listening = asyncio.create_task(slow.listen())
        history.call_after(messages, (all_came := asyncio.Event()).set)
        async with asyncio.timeout(120):
            await all_came.wait()
        listening.cancel()
        return grown, len({op.message for op in history.operations[mark:]})

    with started(tmp_path, settings=limits) as hub:
        grown, offered = asyncio.run(run(hub))
    say(f"{messages * size >> 20} MB for a stream that nobody read: {grown // 1024} MB more; {offered} offered again")
    assert offered == messages
    assert grown <= 64 * 1024
