"""The hub's wire (Peerline's and the naive hub's): raw sockets, two a pair's end: one for requests, one for the stream.

sender: POST /v1/messages · recipient's stream: `message` · recipient: POST ack and POST reply, back to back ·
sender's stream: `reply`. A round trip has ended when the reply is on
the sender's stream and all three POSTs are answered.
"""

import asyncio
import json
from collections import deque
from collections.abc import Callable
from time import perf_counter
from typing import Any, cast

from bench.window import Window

# As our own long-lived clients ask: texts that this agent has sent or got are not sent back. The naive hub ignores it.
PREFER = "prefer: return=minimal\r\n"

Answered = Callable[[int, bytes], None]


class Requests(asyncio.Protocol):
    """A keep-alive connection; pipelined answers are handed out in the order of their requests."""

    def __init__(self) -> None:
        self._waiting: deque[Answered] = deque()
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)

    def send(self, data: bytes, *answered: Answered) -> None:
        self._waiting.extend(answered)
        self.transport.write(data)

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer + data if self._buffer else data
        while (end := buffer.find(b"\r\n\r\n")) > 0:
            head = buffer[:end].lower()
            at = head.find(b"content-length:") + 15
            length = int(head[at : head.find(b"\r", at) % (end + 1)])
            total = end + 4 + length
            if len(buffer) < total:
                break
            self._waiting.popleft()(int(head[9:12]), buffer[end + 4 : total])
            buffer = buffer[total:]
        self._buffer = buffer

    def connection_lost(self, exc: Exception | None) -> None:
        while self._waiting:
            self._waiting.popleft()(0, b"the hub closed the connection")


class Events(asyncio.Protocol):
    """A stream of events, each handed over as its name and its data line; chunk sizes between events are skipped."""

    def __init__(self, request: bytes, happened: Callable[[bytes, bytes], None]) -> None:
        self._request = request
        self._happened = happened
        self._buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)
        self.transport.write(self._request)

    def data_received(self, data: bytes) -> None:
        buffer = self._buffer + data if self._buffer else data
        while (end := buffer.find(b"\n\n")) >= 0:
            event = buffer[:end]
            buffer = buffer[end + 2 :]
            name = event.find(b"event: ")
            if name >= 0:
                self._happened(
                    event[name + 7 : event.index(b"\n", name)].rstrip(), event[event.index(b"\ndata: ") + 7 :]
                )
        self._buffer = buffer


class Agent:
    """One registered agent: its key, its request connection and its open stream."""

    def __init__(self, port: int, token: str, project: str, name: str, source: str = "127.0.0.1") -> None:
        self._port = port
        self._token = token
        self._project = project
        self._source = (source, 0)
        self.name = name
        self._lines = ""

    async def open(self, happened: Callable[[bytes, bytes], None]) -> None:
        await self.register()
        await self.subscribe(happened)

    async def register(self) -> None:
        loop = asyncio.get_running_loop()
        _, self.requests = await loop.create_connection(Requests, "127.0.0.1", self._port, local_addr=self._source)
        status, body = await self._ask("/v1/agents/register", {"name": self.name, "project": self._project})
        assert status in (200, 201), body
        registered = json.loads(body)
        self.id = registered["agent"]["id"]
        self._lines = f"x-kxm-agent-id: {self.id}\r\nx-kxm-agent-key: {registered['agentKey']}\r\n{PREFER}"

    async def subscribe(self, happened: Callable[[bytes, bytes], None]) -> None:
        """Open the stream; returns when its first frame is there."""
        loop = asyncio.get_running_loop()
        ready: asyncio.Future[None] = loop.create_future()

        def first(name: bytes, data: bytes) -> None:
            if not ready.done() and name == b"ready":
                ready.set_result(None)
            happened(name, data)

        self.stream = Events(self.head("GET", f"/v1/events?agentId={self.id}") + b"\r\n", first)
        await loop.create_connection(lambda: self.stream, "127.0.0.1", self._port, local_addr=self._source)
        await asyncio.wait_for(ready, 20)

    def head(self, method: str, path: str) -> bytes:
        return (
            f"{method} {path} HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\n"
            f"authorization: Bearer {self._token}\r\n{self._lines}"
        ).encode()

    def post(self, path: str, fields: dict[str, Any]) -> bytes:
        body = json.dumps(fields).encode()
        return self.head("POST", path) + post_end(body)

    async def _ask(self, path: str, fields: dict[str, Any]) -> tuple[int, bytes]:
        answer: asyncio.Future[tuple[int, bytes]] = asyncio.get_running_loop().create_future()
        self.requests.send(self.post(path, fields), lambda status, body: answer.set_result((status, body)))
        return await asyncio.wait_for(answer, 20)

    def close(self) -> None:
        self.requests.transport.close()
        self.stream.transport.close()


def post_end(body: bytes) -> bytes:
    return b"content-type: application/json\r\ncontent-length: %d\r\n\r\n" % len(body) + body


class Pair:
    """One sender and one recipient in a closed loop."""

    def __init__(self, address: dict[str, Any], pair: int, body: int) -> None:
        project = f"bench-{address['run']}"
        port, token = address["port"], address["token"]
        self._sender = Agent(port, token, project, f"sender-{pair}")
        self._recipient = Agent(port, token, project, f"recipient-{pair}")
        self._body = "x" * body

    async def open(self) -> None:
        await self._recipient.open(self._requested)
        await self._sender.open(self._replied)
        self._send = self._sender.post("/v1/messages", {"target": self._recipient.name, "content": self._body})
        self._act = self._recipient.head("POST", "/v1/messages/")
        self._act, _, self._act_end = self._act.partition(b" HTTP/1.1")
        self._act_end = b" HTTP/1.1" + self._act_end
        self._ack_end = b"/ack" + self._act_end + post_end(b"{}")
        self._reply_end = b"/reply" + self._act_end + post_end(json.dumps({"content": self._body}).encode())

    def start(self, window: Window, done: "asyncio.Future[None]") -> None:
        self._window = window
        self._done = done
        self._next()

    def _next(self) -> None:
        self._open = 4
        self._started = perf_counter()
        self._sender.requests.send(self._send, self._sent)

    def _sent(self, status: int, body: bytes) -> None:
        if status != 202:
            self._fail(body)
        else:
            self._step()

    def _requested(self, name: bytes, data: bytes) -> None:
        if name != b"message":
            return
        at = data.index(b'"msg_') + 1
        self._id = data[at : data.index(b'"', at)]
        act = self._act + self._id
        self._recipient.requests.send(act + self._ack_end + act + self._reply_end, self._acted, self._acted)

    def _acted(self, status: int, body: bytes) -> None:
        if status != 200:
            self._fail(body)
        else:
            self._step()

    def _replied(self, name: bytes, data: bytes) -> None:
        if name != b"reply":
            return
        if self._id not in data or len(data) < len(self._body):
            self._fail(data)
        else:
            self._step()

    def _step(self) -> None:
        self._open -= 1
        if self._open:
            return
        self._window.ended(self._started)
        if self._window.going:
            self._next()
        elif not self._done.done():
            self._done.set_result(None)

    def _fail(self, body: bytes) -> None:
        if not self._done.done():
            self._done.set_exception(RuntimeError(body[:300].decode(errors="replace")))

    def close(self) -> None:
        self._sender.close()
        self._recipient.close()


class Pairs:
    def __init__(self, address: dict[str, Any], pairs: int, body: int) -> None:
        # The protocol takes 32,000 characters at most: that is its «32 KB».
        self._pairs = [Pair(address, pair, min(body, 32_000)) for pair in range(pairs)]

    async def open(self) -> None:
        for pair in self._pairs:
            await pair.open()

    async def load(self, window: Window) -> None:
        loop = asyncio.get_running_loop()
        ends: list[asyncio.Future[None]] = []
        for pair in self._pairs:
            ends.append(loop.create_future())
            pair.start(window, ends[-1])
        await asyncio.gather(*ends)

    async def close(self) -> None:
        for pair in self._pairs:
            pair.close()
