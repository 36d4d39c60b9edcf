"""One HTTP/1.1 connection to a hub, over TCP, TLS or its Unix socket.

The parser is httptools, which the server uses as well. What matters here is what is known when something fails:
`Unreachable` means that no request left, `Unanswered` that one left and its answer did not come whole.
"""

import asyncio
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Final, Protocol

import httptools

from peerline.client.address import Address
from peerline.client.refusals import InvalidAnswer, Unreachable
from peerline.core.errors import Invalid, PeerlineError

if TYPE_CHECKING:
    from ssl import SSLContext

CHUNK: Final = 65_536
ANSWER_BYTES: Final = 256 * 1024 * 1024
HEAD_BYTES: Final = 65_536


class Unanswered(PeerlineError):
    """Sent, and the connection ended before the answer was whole."""

    code = "unanswered"


@dataclass(slots=True)
class Answer:
    status: int = 0
    headers: dict[str, str] = field(default_factory=dict)
    body: bytes = b""


class Line(Protocol):
    """What a hub client needs of a connection; tests may bring their own."""

    async def exchange(self, request: bytes) -> Answer: ...

    async def stream(self, request: bytes) -> tuple[Answer, AsyncIterator[bytes]]: ...

    @property
    def reusable(self) -> bool: ...

    def close(self) -> None: ...


class Dial(Protocol):
    """Open a connection.

    Raises:
        Unreachable: nobody answers there.
    """

    async def __call__(self, to: Address, /) -> Line: ...


def request_bytes(
    to: Address,
    method: str,
    path: str,
    headers: Mapping[str, str],
    body: bytes | None,
    accept: str = "application/json",
) -> bytes:
    """A whole request.

    Raises:
        Invalid: a header would hold a character that HTTP cannot carry (a token with a line end, say).
    """
    lines = [f"{method} {to.prefix}{path} HTTP/1.1", f"host: {to.authority}", f"accept: {accept}"]
    for name, value in headers.items():
        if not value.isascii() or not value.isprintable():
            raise Invalid(f"the value for {name} holds a character that HTTP cannot carry")
        lines.append(f"{name}: {value}")
    if body is not None:
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode("ascii") + (body or b"")


async def dial(to: Address) -> "Connection":
    try:
        if to.socket_path is not None:
            reader, writer = await asyncio.open_unix_connection(to.socket_path, limit=CHUNK)
        else:
            reader, writer = await asyncio.open_connection(to.host, to.port, ssl=_secured(to), limit=CHUNK)
    except (OSError, UnicodeError) as error:  # a host name with an empty label is the latter
        reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
        raise Unreachable(f"no hub answers at {to}: {reason}") from None
    return Connection(reader, writer)


def _secured(to: Address) -> "SSLContext | None":
    """OpenSSL is 5 MiB: only an https address loads it."""
    if not to.tls:
        return None
    from ssl import create_default_context

    return create_default_context()


class Connection:
    """Carries one exchange at a time."""

    def __init__(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._reader = reader
        self._writer = writer
        self._busy = False
        self._keep = True

    @property
    def reusable(self) -> bool:
        return self._keep and not self._busy and not self._reader.at_eof() and not self._writer.is_closing()

    async def exchange(self, request: bytes) -> Answer:
        """Send and read the whole answer. A cancelled exchange leaves the connection unusable.

        Raises:
            Unanswered: the connection ended first.
            InvalidAnswer: what came is not HTTP, or is larger than a hub's answer can be.
        """
        parsed = _Parsed()
        await self._send(request)
        while not parsed.complete:
            await self._read_into(parsed)
        self._busy = False
        self._keep = parsed.keep_alive
        parsed.answer.body = bytes(parsed.body)
        return parsed.answer

    async def stream(self, request: bytes) -> tuple[Answer, AsyncIterator[bytes]]:
        """Send; give back the head, and the body as it comes. A refusal's body is read whole at once."""
        parsed = _Parsed()
        await self._send(request)
        while not parsed.headed:
            await self._read_into(parsed)
        if parsed.answer.status >= 400:
            while not parsed.complete:
                await self._read_into(parsed)
            parsed.answer.body = bytes(parsed.body)
        return parsed.answer, self._chunks(parsed)

    def close(self) -> None:
        self._keep = False
        self._writer.close()

    async def _chunks(self, parsed: "_Parsed") -> AsyncIterator[bytes]:
        while True:
            if parsed.body:
                chunk = bytes(parsed.body)
                parsed.body.clear()
                yield chunk
            if parsed.complete:
                return
            await self._read_into(parsed)

    async def _send(self, request: bytes) -> None:
        self._busy = True
        try:
            self._writer.write(request)
            await self._writer.drain()
        except OSError as error:
            raise Unanswered(f"the connection to the hub ended: {error.strerror or error}") from None

    async def _read_into(self, parsed: "_Parsed") -> None:
        try:
            data = await self._reader.read(CHUNK)
        except OSError as error:
            raise Unanswered(f"the connection to the hub ended: {error.strerror or error}") from None
        if not data:
            if not parsed.until_close:
                raise Unanswered("the hub closed the connection before it answered")
            parsed.complete = True
            return
        parsed.feed(data)


class _Parsed:
    """An answer as httptools tells it, piece by piece."""

    def __init__(self) -> None:
        self.answer = Answer()
        self.body = bytearray()
        self.headed = False
        self.complete = False
        self.keep_alive = False
        self.until_close = False
        self._head_bytes = 0
        self._parser = httptools.HttpResponseParser(self)

    def feed(self, data: bytes) -> None:
        if not self.headed:
            self._head_bytes += len(data)
        try:
            self._parser.feed_data(data)
        except httptools.HttpParserError:
            raise InvalidAnswer("what answered there does not speak HTTP") from None
        except httptools.HttpParserUpgrade:
            raise InvalidAnswer("what answered there wants to change the protocol") from None
        if len(self.body) > ANSWER_BYTES or (not self.headed and self._head_bytes > HEAD_BYTES):
            raise InvalidAnswer("the answer is larger than a hub's can be")

    def on_header(self, name: bytes, value: bytes) -> None:
        self.answer.headers[name.decode("latin-1").lower()] = value.decode("latin-1")

    def on_headers_complete(self) -> None:
        status = self._parser.get_status_code()
        if status < 200:
            return
        self.answer.status = status
        self.headed = True
        self.keep_alive = self._parser.should_keep_alive()
        headers = self.answer.headers
        self.until_close = "content-length" not in headers and "transfer-encoding" not in headers and status != 204

    def on_body(self, data: bytes) -> None:
        self.body += data

    def on_message_complete(self) -> None:
        if self.headed:
            self.complete = True
