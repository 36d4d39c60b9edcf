"""An ASGI application behind a route of the hub, whichever carrier brought the request."""

import asyncio
from collections.abc import Callable
from typing import Any

from peerline.database.later import Later
from peerline.server.asgi import AsgiApp, Message, Scope
from peerline.server.exchange import Request, Response
from peerline.server.refusals import JSON
from peerline.server.stream import Sink, Stream

STREAM = "text/event-stream"
OURS = ("content-length", "connection", "transfer-encoding")


class Mounted:
    """Runs `app` for one request: a whole answer comes as a `Response`, a stream of events as a `Stream`."""

    def __init__(self, app: AsgiApp, request: Request, extra: dict[str, Any], oops: Callable[[BaseException], None]):
        self._app, self._request, self._extra, self._oops = app, request, extra, oops
        self._outcome: Later[Response | Stream] = Later()
        self._asked = False
        self._gone = asyncio.Event()
        self._response = Response(status=500)
        self._stream: MountedStream | None = None

    def start(self, tasks: set[asyncio.Task[None]]) -> Later[Response | Stream]:
        """The answer; the work goes on in `tasks` until the application returns."""
        task = asyncio.ensure_future(self._run())
        tasks.add(task)
        task.add_done_callback(tasks.discard)
        return self._outcome

    async def _run(self) -> None:
        try:
            await self._app(self._scope(), self._receive, self._send)
            error: BaseException = RuntimeError("the mounted application gave no answer")
        except Exception as failure:
            error = failure
            if self._outcome.settled:
                self._oops(failure)
        except asyncio.CancelledError:
            self._outcome.fail(RuntimeError("the mounted application was ended"))
            raise
        finally:
            if self._stream is not None:
                self._stream.end()
        self._outcome.fail(error)  # counts only if there was no answer

    def _scope(self) -> Scope:
        request = self._request
        return {
            "type": "http",
            "asgi": {"version": "3.0", "spec_version": "2.3"},
            "http_version": "1.1",
            "method": request.method,
            "scheme": "http",
            "path": request.path,
            "raw_path": request.path.encode("latin-1"),
            "root_path": "",
            "query_string": request.query.encode("latin-1"),
            # The parser leaves white space at a value's end, which is no part of it.
            "headers": [
                (name.encode("latin-1"), value.strip(" \t").encode("latin-1"))
                for name, value in request.headers.items()
            ],
            "client": (request.peer.address, 0),
            "server": None,
            **self._extra,
        }

    async def _receive(self) -> Message:
        if not self._asked:
            self._asked = True
            return {"type": "http.request", "body": self._request.body, "more_body": False}
        await self._gone.wait()
        return {"type": "http.disconnect"}

    async def _send(self, message: Message) -> None:
        if message["type"] == "http.response.start":
            headers = {name.decode("latin-1").lower(): value.decode("latin-1") for name, value in message["headers"]}
            kept = tuple((name, value) for name, value in headers.items() if name not in OURS)
            if message["status"] == 200 and headers.get("content-type", "").startswith(STREAM):
                self._stream = MountedStream(kept, self._gone)
                self._outcome.succeed(self._stream)
                return
            missing = tuple((name, value) for name, value in JSON[1:] if name not in headers)
            self._response = Response(status=message["status"], headers=kept + missing)
        elif self._stream is not None:
            await self._stream.send(message.get("body", b""))
        else:
            self._response.body += message.get("body", b"")
            if not message.get("more_body", False):
                self._outcome.succeed(self._response)


class MountedStream(Stream):
    """What the application writes goes on once the caller's connection takes it."""

    __slots__ = ("_ended", "_gone", "_room", "_sink")

    def __init__(self, headers: tuple[tuple[str, str], ...], gone: asyncio.Event) -> None:
        super().__init__(headers)
        self._gone = gone
        self._room = asyncio.Event()
        self._sink: Sink | None = None
        self._ended = False

    async def send(self, data: bytes) -> None:
        if self._gone.is_set():
            return
        await self._room.wait()  # until it is open, and while the peer takes nothing
        if self._sink is not None and data:
            self._sink.write(data)
            if self._sink.paused:
                self._room.clear()

    def end(self) -> None:
        self._ended = True
        if self._sink is not None:
            self._sink.close()

    def opened(self, sink: Sink) -> None:
        self._sink = sink
        self._room.set()
        if self._ended:
            sink.close()

    def resumed(self) -> None:
        self._room.set()

    def closed(self) -> None:
        self._sink = None
        self._gone.set()
        self._room.set()
