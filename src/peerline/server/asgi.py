"""The application as a plain ASGI 3 app: the fall-back caller, and the place beside which other ASGI apps are mounted.

Knows less than `server.protocol`: docs/decisions/0018-http-server.md lists what ASGI hides from it.
"""

import asyncio
import logging
from collections.abc import Awaitable, Callable, Mapping, MutableMapping
from typing import Any

from peerline.core.limits import BODY_BYTES, STREAM_BUFFER_BYTES
from peerline.database.later import Later
from peerline.server import framing
from peerline.server.deadlines import Deadlines
from peerline.server.encoding import BODILESS, encode_head
from peerline.server.exchange import Application, Peer, Request, Response
from peerline.server.framing import Refused
from peerline.server.outbound import STREAM_HIGH_WATER
from peerline.server.stream import Stream

logger = logging.getLogger(__name__)

Scope = MutableMapping[str, Any]
Message = MutableMapping[str, Any]
Receive = Callable[[], Awaitable[Message]]
Send = Callable[[Message], Awaitable[None]]
AsgiApp = Callable[[Scope, Receive, Send], Awaitable[None]]


class Disconnected(Exception):
    """The client went away before its request was whole."""


class Asgi:
    """`mounts` maps path prefixes ("/mcp") to other ASGI apps; everything else is the application's."""

    def __init__(
        self,
        app: Application,
        *,
        mounts: Mapping[str, AsgiApp] | None = None,
        deadlines: Deadlines | None = None,
        body_bytes: int = BODY_BYTES,
    ) -> None:
        self._app = app
        self._mounts = dict(mounts or {})
        self._deadlines = deadlines or Deadlines()
        self._body_bytes = body_bytes
        self._streams: set[StreamSink] = set()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "lifespan":
            await _lifespan(receive, send)
        elif scope["type"] == "http":
            for prefix, mounted in self._mounts.items():
                if scope["path"] == prefix or scope["path"].startswith(prefix + "/"):
                    await mounted(scope, receive, send)
                    return
            await self._http(scope, receive, send)

    def close_streams(self) -> None:
        for sink in list(self._streams):
            sink.close()

    async def _http(self, scope: Scope, receive: Receive, send: Send) -> None:
        peer = _peer(scope)
        try:
            request = await self._request(scope, receive, peer)
        except Disconnected:
            return
        except (Refused, TimeoutError) as error:
            refused = error if isinstance(error, Refused) else framing.too_slow()
            response = self._app.refuse(refused.status, refused.code, refused.text, peer)
            response.close = True
            await _send_response(response, send)
            return
        try:
            answer = self._app.answer(request)
            result = await answer if isinstance(answer, Later) else answer
            encode_head(200, result.headers)  # for its refusal of line ends only
        except Exception:
            logger.exception("%s could not be answered", request.method)
            result = self._app.refuse(500, "internal_error", "internal server error", peer)
        if isinstance(result, Stream):
            await self._stream(result, receive, send, bodiless=request.method == "HEAD")
        else:
            await _send_response(result, send)

    async def _request(self, scope: Scope, receive: Receive, peer: Peer) -> Request:
        headers = framing.fold_headers(scope["headers"])
        headers.pop("upgrade", None)  # nothing here could change the protocol
        framing.check_framing(headers, scope["http_version"], self._body_bytes)
        path = (scope.get("raw_path") or scope["path"].encode()).decode("latin-1")
        body = b""
        if "transfer-encoding" in headers or int(headers.get("content-length", 0)):
            async with asyncio.timeout(self._deadlines.body_s):
                body = await self._body(receive)
        return Request(
            method=scope["method"],
            path=path,
            query=scope["query_string"].decode("latin-1"),
            headers=headers,
            body=body,
            peer=peer,
        )

    async def _body(self, receive: Receive) -> bytes:
        body = bytearray()
        more = True
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                raise Disconnected
            body += message.get("body", b"")
            if len(body) > self._body_bytes:
                raise framing.too_large(self._body_bytes)
            more = message.get("more_body", False)
        return bytes(body)

    async def _stream(self, stream: Stream, receive: Receive, send: Send, *, bodiless: bool) -> None:
        await send(
            {"type": "http.response.start", "status": 200, "headers": _raw(stream.headers) + _split(stream.lines)}
        )
        if bodiless:
            stream.closed()
            await send({"type": "http.response.body", "body": b""})
            return
        sink = StreamSink(stream)
        self._streams.add(sink)
        stream.opened(sink)
        try:
            await sink.run(receive, send, self._deadlines.stall_s)
        finally:
            self._streams.discard(sink)
            stream.closed()


class StreamSink:
    """The Sink over ASGI: what is written waits here until `send` has taken what came before."""

    def __init__(self, stream: Stream) -> None:
        self._stream = stream
        self._waiting: list[bytes] = []
        self._size = 0
        self._over = False
        self._cut = False
        self._running: asyncio.Task[None] | None = None
        self._bell = asyncio.Event()
        self.paused = False

    def write(self, *pieces: bytes) -> None:
        if self._over:
            return
        self._waiting.extend(pieces)
        self._size += sum(map(len, pieces))
        self.paused = self._size > STREAM_HIGH_WATER
        self._bell.set()
        if self._size > STREAM_BUFFER_BYTES and self._running is not None:
            self._over = self._cut = True
            self._running.cancel()  # it may hang in `send`

    def close(self) -> None:
        self._over = True
        self._bell.set()

    async def run(self, receive: Receive, send: Send, stall_s: float) -> None:
        """Send until the client or `close` ends it, or `send` has taken nothing for `stall_s` seconds."""
        self._running = asyncio.current_task()
        gone = asyncio.ensure_future(_gone(receive))
        gone.add_done_callback(lambda _: self.close())
        try:
            while True:
                await self._bell.wait()
                self._bell.clear()
                while self._waiting and not gone.done():
                    data = b"".join(self._waiting)
                    self._waiting.clear()
                    async with asyncio.timeout(stall_s):
                        await send({"type": "http.response.body", "body": data, "more_body": True})
                    self._size -= len(data)
                    if self.paused and not self._over and self._size <= STREAM_HIGH_WATER:
                        self.paused = False
                        self._stream.resumed()
                if self._over:
                    break
            if not gone.done():
                async with asyncio.timeout(stall_s):
                    await send({"type": "http.response.body", "body": b""})
        except asyncio.CancelledError:
            if not self._cut or self._running is None:
                raise
            self._running.uncancel()
        except TimeoutError:
            pass  # the server below closes a connection whose answer was not completed
        finally:
            self._over = True
            gone.cancel()


async def _gone(receive: Receive) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass


async def _send_response(response: Response, send: Send) -> None:
    headers = _raw(response.headers) + _split(response.lines)
    if response.close:
        headers.append((b"connection", b"close"))
    body = b"" if response.status in BODILESS else response.whole
    if response.status not in BODILESS:
        headers.append((b"content-length", b"%d" % len(body)))
    await send({"type": "http.response.start", "status": response.status, "headers": headers})
    await send({"type": "http.response.body", "body": body})


async def _lifespan(receive: Receive, send: Send) -> None:
    while True:
        message = await receive()
        await send({"type": message["type"] + ".complete"})
        if message["type"] == "lifespan.shutdown":
            return


def _peer(scope: Scope) -> Peer:
    client = scope.get("client")
    if client:
        return Peer(address=client[0])
    server = scope.get("server") or ("", 0)
    unix = server[1] is None
    return Peer(address="unix" if unix else "unknown", unix=unix)


def _split(lines: str) -> list[tuple[bytes, bytes]]:
    """Header lines, each with its line end, as the pairs that ASGI wants."""
    return _raw(tuple((name, value) for name, _, value in (line.partition(": ") for line in lines.splitlines())))


def _raw(headers: tuple[tuple[str, str], ...]) -> list[tuple[bytes, bytes]]:
    return [(name.encode("latin-1"), value.encode("latin-1")) for name, value in headers]
