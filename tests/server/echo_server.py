"""A small application behind the real server in a thread, and a raw socket to talk to it."""

import asyncio
import json
import queue
import socket
import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import uvloop

from peerline.core.limits import BODY_BYTES
from peerline.database.later import Later
from peerline.server.deadlines import Deadlines, Wheel
from peerline.server.exchange import Answer, Peer, Request, Response
from peerline.server.listen import serve
from peerline.server.stream import Sink, Stream

Caller = Literal["protocol", "asgi"]
WAIT_S = 20
JSON = (("content-type", "application/json"), ("x-request-id", "req_test"))


class Clock:
    def __init__(self) -> None:
        self.now = 1_000.0

    def __call__(self) -> float:
        return self.now


class EchoStream(Stream):
    def __init__(self, app: "EchoApp") -> None:
        super().__init__((("content-type", "text/event-stream"), ("x-request-id", "req_test")))
        self.app = app
        self.sink: Sink | None = None

    def opened(self, sink: Sink) -> None:
        self.sink = sink
        self.app.events.put(("opened", self))

    def resumed(self) -> None:
        self.app.events.put(("resumed", self))

    def closed(self) -> None:
        self.app.events.put(("closed", self))


class EchoApp:
    """Answers by path; what happened is in `events`, in order."""

    def __init__(self) -> None:
        self.events: queue.Queue[tuple[str, Any]] = queue.Queue()
        self.pending: dict[str, Later[Response | Stream]] = {}

    def answer(self, request: Request) -> Answer:
        self.events.put(("asked", request))
        path = request.path
        if path.startswith("/later/"):
            later: Later[Response | Stream] = Later()
            self.pending[path.removeprefix("/later/")] = later
            return later
        if path == "/stream":
            return EchoStream(self)
        if path == "/none":
            return Response(status=204, headers=JSON)
        if path == "/close":
            return Response(status=200, headers=JSON, body=b"{}", close=True)
        if path == "/big":
            return Response(status=200, headers=JSON, body=b"x" * int(request.query))
        if path == "/split":
            return Response(status=200, headers=(("x-a", "1\r\nx-b: 2"),))
        if path == "/fail":
            raise RuntimeError("a fault of the application")
        if path.startswith("/echo"):
            return Response(status=200, headers=JSON, body=json.dumps(described(request)).encode())
        return self.refuse(404, "route_not_found", "route not found", request.peer)

    def refuse(self, status: int, code: str, text: str, peer: Peer) -> Response:
        body = json.dumps({"error": text, "code": code, "requestId": "req_test"}).encode()
        return Response(status=status, headers=JSON, body=body)


def described(request: Request) -> dict[str, Any]:
    return {
        "method": request.method,
        "path": request.path,
        "query": request.query,
        "headers": dict(request.headers),
        "body": request.body.decode("latin-1"),
        "peer": [request.peer.address, request.peer.unix, request.peer.uid],
    }


class EchoServer:
    """The server on a loop in a thread. `turn(seconds)` moves its clock and turns its wheel of deadlines."""

    def __init__(
        self,
        http: Caller = "protocol",
        *,
        socket_path: Path | None = None,
        deadlines: Deadlines | None = None,
        body_bytes: int = BODY_BYTES,
    ) -> None:
        self.app = EchoApp()
        self.http = http
        self.socket_path = socket_path
        self.clock = Clock()
        self.port = 0
        self._ready: queue.Queue[int | BaseException] = queue.Queue()
        self._wheel: Wheel | None = None
        self._stop: asyncio.Event | None = None
        self._loop: asyncio.AbstractEventLoop | None = None

        def run() -> None:
            with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
                self._loop = runner.get_loop()
                self._stop = asyncio.Event()
                try:
                    runner.run(
                        serve(
                            self.app,
                            host="127.0.0.1",
                            port=0,
                            socket_path=socket_path,
                            http=http,
                            deadlines=deadlines,
                            body_bytes=body_bytes,
                            on_ready=self._ready.put,
                            stop=self._stop,
                            clock=self.clock,
                            on_wheel=self._take_wheel,
                        )
                    )
                except BaseException as error:
                    self._ready.put(error)

        self._thread = threading.Thread(target=run, daemon=True)

    def _take_wheel(self, wheel: Wheel) -> None:
        self._wheel = wheel

    def start(self) -> "EchoServer":
        self._thread.start()
        ready = self._ready.get(timeout=WAIT_S)
        if isinstance(ready, BaseException):
            raise ready
        self.port = ready
        return self

    def begin_stop(self) -> None:
        assert self._loop is not None
        assert self._stop is not None
        self._loop.call_soon_threadsafe(self._stop.set)

    def stop(self) -> None:
        if self._thread.is_alive():
            self.begin_stop()
            self._thread.join(WAIT_S)
        assert not self._thread.is_alive()

    def call(self, work: Callable[[], Any]) -> Any:
        """Run `work` on the server's thread and return its result."""
        done: queue.Queue[Any] = queue.Queue()
        assert self._loop is not None
        self._loop.call_soon_threadsafe(lambda: done.put(work()))
        return done.get(timeout=WAIT_S)

    def turn(self, seconds: float) -> None:
        wheel = self._wheel
        assert wheel is not None

        def move() -> None:
            self.clock.now += seconds
            wheel.turn()

        self.call(move)

    def watched(self) -> int:
        wheel = self._wheel
        assert wheel is not None
        return int(self.call(lambda: len(wheel)))

    def settle(self, key: str, answer: Response | Stream) -> None:
        self.call(lambda: self.app.pending.pop(key).succeed(answer))

    def event(self, kind: str) -> Any:
        """The next event, which has to be of this kind."""
        found, what = self.app.events.get(timeout=WAIT_S)
        assert found == kind, (found, what)
        return what

    def connect(self) -> "Raw":
        return Raw(socket.create_connection(("127.0.0.1", self.port), timeout=WAIT_S))

    def connect_unix(self) -> "Raw":
        connection = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
        connection.settimeout(WAIT_S)
        connection.connect(str(self.socket_path))
        return Raw(connection)


class Received:
    def __init__(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.status = status
        self.headers = headers
        self.body = body

    @property
    def json(self) -> Any:
        return json.loads(self.body)


class Raw:
    """One connection, byte by byte."""

    def __init__(self, connection: socket.socket) -> None:
        self.connection = connection
        self._file = connection.makefile("rb")

    def __enter__(self) -> "Raw":
        return self

    def __exit__(self, *_: object) -> None:
        self._file.close()
        self.connection.close()

    def send(self, data: bytes) -> None:
        self.connection.sendall(data)

    def get(self, target: str = "/echo", *more: str) -> None:
        lines = [f"GET {target} HTTP/1.1", "Host: h", *more, "", ""]
        self.send("\r\n".join(lines).encode("latin-1"))

    def head(self) -> tuple[int, dict[str, str]]:
        line = self._file.readline()
        assert line.startswith(b"HTTP/1.1 "), line
        headers: dict[str, str] = {}
        while (header := self._file.readline()) != b"\r\n":
            name, _, value = header.decode("latin-1").partition(":")
            assert name.lower() not in headers
            headers[name.lower()] = value.strip()
        return int(line.split()[1]), headers

    def answer(self, *, bodiless: bool = False) -> Received:
        status, headers = self.head()
        length = 0 if bodiless else int(headers.get("content-length", 0))
        return Received(status, headers, self._file.read(length))

    def chunk(self) -> bytes:
        """One chunk of an answer that is sent in chunks."""
        data = self._file.read(int(self._file.readline(), 16))
        self._file.readline()
        return data

    def read(self, size: int) -> bytes:
        return self._file.read(size)

    def rest(self) -> bytes:
        """Everything up to the end of the connection, which has to come."""
        try:
            return self._file.read()
        except ConnectionResetError:
            return b""
