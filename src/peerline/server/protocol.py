"""Bytes in, `Request`s out: one connection of the hub on uvicorn's own parser (httptools), without uvicorn around it.

Why not uvicorn's protocol class: docs/decisions/0018-http-server.md.
"""

import logging
from typing import Final

import httptools

from peerline.core.errors import Stopping
from peerline.server import framing
from peerline.server.deadlines import NEVER
from peerline.server.encoding import CONTINUE
from peerline.server.exchange import Head, Request
from peerline.server.framing import HEAD_BYTES, NAMES, Refused
from peerline.server.outbound import Outbound
from peerline.server.patience import BODY, HEAD, IDLE, Shared
from peerline.server.stream import Stream

logger = logging.getLogger(__name__)

PIPELINE: Final = 64  # unanswered requests of one connection above which it is not read
SLICE: Final = 4_096  # fed to the parser at a time, so that one read cannot hold thousands of requests
CHUNKED_SLICE: Final = (
    64  # the parser hides chunk extensions; small slices show how much of the input is none of the body
)

name_of = NAMES.get


class Ended(Exception):
    """Stops the parser in the middle of a buffer: what follows is not read."""


class Connection(Outbound):
    """The reading half."""

    __slots__ = (
        "_answered",
        "_body",
        "_boundary",
        "_chunked",
        "_close",
        "_head_bytes",
        "_headers",
        "_length",
        "_lines",
        "_offered",
        "_parser",
        "_path",
        "_query",
        "_size",
        "_stash",
        "_upgrading",
        "_url",
        "_wasted",
    )

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self._parser: httptools.HttpRequestParser | None = httptools.HttpRequestParser(self)
        self._stash = b""  # read, but not to be looked at before earlier answers have left
        self._close = False
        self._upgrading = False
        self._offered = ""  # the protocol that a declined upgrade was for
        self._path = self._query = ""
        self._url = b""
        self._headers: dict[str, str] = {}
        self._lines = self._size = self._head_bytes = self._length = self._wasted = 0
        self._body: bytes | bytearray = b""
        self._chunked = self._boundary = False
        self._answered = 0

    # From the transport

    def data_received(self, data: bytes) -> None:
        if self.ended:
            if self._stream is not None:
                self._stream.received(data)
            return
        if self._stash:
            self._stash += data
            return
        try:
            read = self._read_whole(data) if self.phase <= IDLE else 0
            if read < len(data) and not self.ended:
                self._read_rest(data[read:])
        except httptools.HttpParserError as error:
            self._broken(error)
        except Refused as refused:
            self._refuse(refused)
        if self.phase > IDLE or self.armed == NEVER:
            self.watch()

    def _read_rest(self, data: bytes) -> None:
        if len(data) <= SLICE and self.phase <= IDLE and b"chunked" not in data.lower():
            self._feed(data)
        else:
            self._feed_slices(data)

    def _read_whole(self, data: bytes) -> int:
        """Answer the whole requests at the front of `data`, one at a time; how many bytes they were. A known header
        block spares the parser, a new one is learned from it."""
        peer, start = self.peer, 0
        assert peer is not None
        heads = self.shared.heads[peer.unix]
        while start < len(data) and not (self.ended or self.paused or self.pending >= PIPELINE):
            plain = heads.read(data, start, peer)
            if plain is not None:
                request, start = plain
                self._take(request, False)
                continue
            end = heads.end(data, start)
            if end is None:
                break
            piece, answered = data[start:end], self._answered
            start = end
            self._feed(piece)
            if self.phase != IDLE:
                break  # the parser sees it otherwise: it goes on alone
            if self._answered == answered + 1 and not self.ended:
                heads.learn(piece, self._headers)
        return start

    def eof_received(self) -> bool:
        """Half-closed: whoever asked before still gets the answers; a stream or half a request ends."""
        self.ended = self.halved = True
        return self.pending > 0 and not self.closing

    def connection_lost(self, error: Exception | None) -> None:
        self._parser = None  # it holds on to this object's methods
        super().connection_lost(error)

    def pause_writing(self) -> None:
        super().pause_writing()
        self._read_on(self._stream is not None)

    def drained(self) -> None:
        if self.paused or self.pending >= PIPELINE // 2:
            return
        if self._stash and not self.ended:
            data, self._stash = self._stash, b""
            self.data_received(data)
        self._read_on(not self._stash and not self.paused)

    def _read_on(self, wanted: bool) -> None:
        if wanted is not self.reading and self.transport is not None and not self.transport.is_closing():
            self.reading = wanted
            if wanted:
                self.transport.resume_reading()
            else:
                self.transport.pause_reading()

    # Into the parser

    def _feed(self, data: bytes) -> None:
        parser, began, self._boundary = self._parser, self.phase, False
        assert parser is not None
        try:
            parser.feed_data(data)
        except httptools.HttpParserUpgrade as upgrade:
            if not self.ended:
                self._decline_upgrade(data[upgrade.args[0] :])
        if self.phase == HEAD:
            # What has not ended yet has not been counted by on_header either.
            self._head_bytes = self._head_bytes + len(data) if began == HEAD else len(data)
            if self._head_bytes > HEAD_BYTES:
                raise framing.malformed("too many or too large headers")

    def _feed_slices(self, data: bytes) -> None:
        start = 0
        while start < len(data) and not self.ended:
            if self.paused or self.pending >= PIPELINE:
                self._stash += data[start:]  # behind what a declined upgrade may have put there
                self._read_on(False)
                return
            if self.phase != BODY:
                found = data.find(b"\r\n\r\n", start, start + SLICE)
                end = found + 4 if found >= 0 else start + SLICE
            elif self._chunked:
                end = start + CHUNKED_SLICE
            else:
                end = start + max(self._length - self._size, 1)
            piece, before = data[start:end], self._size
            chunked = self._chunked and self.phase == BODY
            self._feed(piece)
            start = end
            if chunked:
                # Between two chunk boundaries, everything that is no body is a chunk's extension.
                self._wasted = 0 if self._boundary else self._wasted + len(piece) - (self._size - before)
                if self._wasted > framing.CHUNK_EXTENSION_BYTES:
                    raise framing.malformed("chunk extension too large")

    def _decline_upgrade(self, rest: bytes) -> None:
        """Read the request again as the plain one it also is: the parser would take its body for another protocol."""
        headers = self._headers
        self._offered = headers.pop("upgrade")
        tokens = [token.strip() for token in headers.pop("connection", "").split(",")]
        if kept := [token for token in tokens if token.lower() not in ("upgrade", "http2-settings", "")]:
            headers["connection"] = ", ".join(kept)
        lines = [f"{self._method()} {self._url.decode('latin-1')} HTTP/1.1"]
        lines += [f"{name}: {value}" for name, value in headers.items()]
        self._parser = httptools.HttpRequestParser(self)
        self._upgrading = False
        self.phase = IDLE
        self._feed_slices("\r\n".join([*lines, "", ""]).encode("latin-1") + rest)

    def _method(self) -> str:
        assert self._parser is not None
        method = self._parser.get_method()
        return framing.METHODS.get(method) or method.decode("ascii")

    # From the parser

    def on_message_begin(self) -> None:
        if self.ended:
            raise Ended
        self.phase = HEAD
        self.began = self.shared.wheel.now
        self._url = b""
        self._headers = {}
        self._lines = self._size = self._head_bytes = self._length = self._wasted = 0
        self._body = b""
        self._chunked = False

    def on_url(self, url: bytes) -> None:
        self._url += url
        self._size += len(url)
        if self._size > HEAD_BYTES:
            raise framing.malformed("request target too large")

    def on_header(self, name: bytes, value: bytes) -> None:
        """The busiest function of the hub: ten calls a request."""
        if self.phase == BODY:
            self._on_trailer()
            return
        size = self._size = self._size + len(name) + len(value) + 4
        if size > HEAD_BYTES:
            raise framing.malformed("too many or too large headers")
        key = name_of(name) or name.decode("latin-1").lower()
        headers = self._headers
        if key in headers:
            self._lines += 1
            framing.add_header(headers, key, value.decode("latin-1"))
        else:
            headers[key] = value.decode("latin-1")

    def _on_trailer(self) -> None:
        """Trailers are read over, but not without end."""
        self._boundary = True
        self._lines += 1
        if self._lines > framing.HEADERS:
            raise framing.malformed("too many or too large headers")

    def on_headers_complete(self) -> None:
        parser, headers = self._parser, self._headers
        assert parser is not None
        self.phase = BODY
        self._size = 0
        if "upgrade" in headers and parser.should_upgrade() and parser.get_method() != b"CONNECT":
            self._upgrading = True
            return
        if len(headers) + self._lines > framing.HEADERS:
            raise framing.malformed("too many or too large headers")
        keep = parser.should_keep_alive()
        # Unless it is asked to, the parser keeps alive in 1.1 only; asking for the version costs a formatted string.
        version = "1.1" if keep and "connection" not in headers else parser.get_http_version()
        framing.check_framing(headers, version, self.shared.body_bytes)
        self._path, self._query = framing.split_target(self._url, headers["host"])
        self._close = not keep or version != "1.1"
        self._chunked = "transfer-encoding" in headers
        self._length = int(headers.get("content-length", 0))
        expects = version == "1.1" and headers.get("expect", "").lower() == "100-continue"
        if expects and (self._length or self._chunked):
            self.put_bytes(CONTINUE)

    def on_body(self, body: bytes) -> None:
        self._size += len(body)
        if self._size > self.shared.body_bytes:
            raise framing.too_large(self.shared.body_bytes)
        if not self._body:
            self._body = body
        else:
            if type(self._body) is bytes:
                self._body = bytearray(self._body)
            self._body += body

    def on_chunk_header(self) -> None:
        self._boundary = True

    def on_message_complete(self) -> None:
        if self._upgrading:
            return
        assert self.peer is not None
        body = self._body if type(self._body) is bytes else bytes(self._body)
        self._boundary = True
        self._body = b""
        if self._offered:
            self._headers["upgrade"], self._offered = self._offered, ""  # a route may take it all the same
        method, headers = self._method(), self._headers
        request = Request(method, self._path, self._query, headers, body, self.peer, Head(headers))
        self._take(request, self._close or method == "CONNECT")

    def _take(self, request: Request, close: bool) -> None:
        self.phase = IDLE
        self.began = self.shared.wheel.now
        self._answered += 1
        try:
            answer = self.shared.app.answer(request)
        except Exception:
            logger.exception("%s could not be answered", request.method)
            answer = self.failed()
        if close or isinstance(answer, Stream):
            self.ended = True  # before anything is written: the parser may already hold the next request
        self.put(answer, bodiless=request.method == "HEAD", close=close)

    # Refusals

    def _broken(self, error: httptools.HttpParserError) -> None:
        cause = error.__context__
        if isinstance(cause, Refused):
            self._refuse(cause)
        elif isinstance(cause, Exception) and not isinstance(cause, Ended):
            logger.error("a connection failed", exc_info=cause)
            self.put_last(self.failed())
        else:
            self._refuse(framing.malformed("the request is not well-formed HTTP/1.1"))

    def _refuse(self, refused: Refused) -> None:
        if not self.ended:
            assert self.peer is not None
            self.put_last(self.shared.app.refuse(refused.status, refused.code, refused.text, self.peer))

    def overdue(self) -> None:
        self._refuse(framing.too_slow())

    def lighten(self) -> None:
        super().lighten()
        self._read_on(True)  # only whoever reads learns that the peer has gone
        self._parser = None
        self._headers = {}
        self._url = self._stash = b""
        self._path = self._query = ""

    def shutdown(self) -> None:
        if self.phase in (HEAD, BODY) and not self.ended:
            self._refuse(Refused(503, Stopping.code, "internal server error"))
        else:
            super().shutdown()
