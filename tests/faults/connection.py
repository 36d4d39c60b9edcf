"""A small HTTP/1.1 client for faults: one kept-alive connection, one stream, and no retry that would hide anything."""

import asyncio
import json
from collections.abc import AsyncIterator, Mapping
from dataclasses import dataclass, field
from typing import Any


class Gone(Exception):
    """The connection ended before a whole answer: what was asked may or may not have happened."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    status: int
    headers: Mapping[str, str]
    body: bytes

    def json(self) -> dict[str, Any]:
        return json.loads(self.body) if self.body else {}

    @property
    def code(self) -> str:
        if self.status < 400:
            return ""
        try:
            return str(self.json().get("code", ""))
        except ValueError:
            return ""


def _request(method: str, path: str, host: str, port: int, headers: Mapping[str, str], body: bytes | None) -> bytes:
    lines = [f"{method} {path} HTTP/1.1", f"host: {host}:{port}", *(f"{k}: {v}" for k, v in headers.items())]
    if body is not None:
        lines += ["content-type: application/json", f"content-length: {len(body)}"]
    return "\r\n".join([*lines, "", ""]).encode() + (body or b"")


async def _head(reader: asyncio.StreamReader) -> tuple[int, dict[str, str]]:
    text = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
    first, *lines = text[:-4].split("\r\n")
    headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    return int(first.split(" ")[1]), headers


async def _body(reader: asyncio.StreamReader, headers: Mapping[str, str]) -> bytes:
    if headers.get("transfer-encoding") != "chunked":
        return await reader.readexactly(int(headers.get("content-length", "0")))
    body = b""
    while size := int(await reader.readuntil(b"\r\n"), 16):
        body += (await reader.readexactly(size + 2))[:-2]
    await reader.readexactly(2)
    return body


@dataclass(slots=True)
class Connection:
    """Opened at the first `ask`; after `Gone` the next `ask` opens it again."""

    port: int
    source: str = "127.0.0.1"
    host: str = "127.0.0.1"
    _streams: tuple[asyncio.StreamReader, asyncio.StreamWriter] | None = field(default=None, init=False)

    async def ask(
        self,
        method: str,
        path: str,
        body: Mapping[str, object] | None = None,
        headers: Mapping[str, str] | None = None,
        *,
        within_s: float = 30.0,
    ) -> Answer:
        """One request and its whole answer.

        Raises:
            Gone: refused, reset, closed early, or silent for `within_s`.
        """
        payload = None if body is None else json.dumps(body).encode()
        try:
            async with asyncio.timeout(within_s):
                if self._streams is None:
                    self._streams = await asyncio.open_connection(
                        self.host, self.port, local_addr=(self.source, 0), limit=1 << 22
                    )
                reader, writer = self._streams
                writer.write(_request(method, path, self.host, self.port, headers or {}, payload))
                status, answered = await _head(reader)
                answer = Answer(status=status, headers=answered, body=await _body(reader, answered))
        except (OSError, EOFError, TimeoutError) as error:
            self.close()
            raise Gone(f"{method} {path}: {error!r}") from error
        except asyncio.CancelledError:
            self.close()
            raise
        if answered.get("connection") == "close":
            self.close()
        return answer

    def close(self) -> None:
        if self._streams is not None:
            self._streams[1].transport.abort()
            self._streams = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    event: str
    data: dict[str, Any]
    id: str | None = None


async def frames(
    port: int, path: str, headers: Mapping[str, str], *, source: str = "127.0.0.1", host: str = "127.0.0.1"
) -> AsyncIterator[Frame]:
    """The frames of one stream until it ends; a refusal is `Gone` too."""
    writer: asyncio.StreamWriter | None = None
    try:
        reader, writer = await asyncio.open_connection(host, port, local_addr=(source, 0), limit=1 << 22)
        writer.write(_request("GET", path, host, port, headers, None))
        status, answered = await _head(reader)
        if status != 200:
            raise Gone(f"stream refused with {status}")
        chunked = answered.get("transfer-encoding") == "chunked"
        rest = b""
        while True:
            if chunked:
                size = int(await reader.readuntil(b"\r\n"), 16)
                piece = (await reader.readexactly(size + 2))[:-2]
            else:
                piece = await reader.read(1 << 16)
            if not piece:
                return
            *whole, rest = (rest + piece).split(b"\n\n")
            for frame in map(_frame, whole):
                if frame is not None:
                    yield frame
    except (OSError, EOFError) as error:
        raise Gone(repr(error)) from error
    finally:
        if writer is not None:
            writer.transport.abort()


def _frame(text: bytes) -> Frame | None:
    fields = {
        name: value.removeprefix(" ")
        for name, _, value in (line.partition(":") for line in text.decode().splitlines())
        if name
    }
    if "data" not in fields:
        return None
    return Frame(event=fields.get("event", "message"), data=json.loads(fields["data"]), id=fields.get("id"))
