"""One HTTP/1.1 connection to a hub, over TCP or its Unix socket, on the bare socket type.

`socket`, `http.client` and `ssl` are 7, 40 and 25 ms; only an https address loads them.
"""

from __future__ import annotations

import _socket
from time import monotonic

from peerline.cli.hot_address import Address
from peerline.cli.hot_json import dumps, loads

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

TIMEOUT_MS = 15_000
CHUNK = 65_536
HEAD_BYTES = 65_536


class Unreachable(Exception):
    """No connection could be made: nothing was asked."""


class ConnectionLost(Exception):
    """The connection ended before the answer came: whether the hub did what it was asked is not known."""


class Answer:
    def __init__(self, status: int, headers: dict[str, str], body: dict[str, Any]) -> None:
        self.status = status
        self.headers = headers
        self.body = body


class Connection:
    """Opened at the first request and kept; `headers` go with every one."""

    def __init__(self, address: Address, headers: dict[str, str]) -> None:
        self.address = address
        self.headers = headers
        self._socket: Any = None
        self._rest = b""

    def request(
        self, method: str, path: str, body: dict[str, Any] | None = None, timeout_ms: int = TIMEOUT_MS
    ) -> Answer:
        """Ask and wait for the answer.

        Raises:
            Unreachable: see there.
            ConnectionLost: see there; also when `timeout_ms` has passed.
            ValueError: what came is no answer of a hub.
        """
        self.ask(method, path, body, timeout_ms)
        return self.answer(timeout_ms)

    def ask(self, method: str, path: str, body: dict[str, Any] | None = None, timeout_ms: int = TIMEOUT_MS) -> None:
        """Write a request; its answer is read by `answer`, so that several connections can wait at once."""
        data = b"" if body is None else dumps(body).encode()
        lines = [f"{method} {self.address.prefix}{path} HTTP/1.1", f"Host: {self.address.authority}"]
        lines += [f"{name}: {value}" for name, value in self.headers.items()]
        if body is not None:
            lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
        if self._socket is None:
            self._socket = connect(self.address, timeout_ms)
        self._socket.settimeout(timeout_ms / 1000)
        try:
            self._socket.sendall("\r\n".join([*lines, "", ""]).encode("latin-1") + data)
        except OSError:
            # A hub that refuses a request early may close before all is written; its answer can still be read.
            pass

    def answer(self, timeout_ms: int = TIMEOUT_MS) -> Answer:
        try:
            return self._answer(timeout_ms)
        except TimeoutError:
            self.close()
            raise ConnectionLost(f"request timed out after {timeout_ms}ms") from None
        except OSError as error:
            self.close()
            raise ConnectionLost(f"the connection to the hub was lost ({cause(error)})") from None
        except ConnectionLost:
            self.close()
            raise

    def _answer(self, timeout_ms: int) -> Answer:
        end = monotonic() + timeout_ms / 1000
        head = self._until(b"\r\n\r\n", end).decode("latin-1").split("\r\n")
        version, _, status = head[0].partition(" ")
        if not version.startswith("HTTP/1.") or not status[:3].isdigit():
            raise ValueError(f"what answers at {self.address.url} is no hub")
        headers = {name.strip().lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:])}
        data = self._body(int(status[:3]), headers, end)
        if headers.get("connection", "").lower() == "close":
            self.close()
        body: Any = {}
        if data:
            try:
                body = loads(data.decode())
            except ValueError:
                body = None
            if not isinstance(body, dict):
                raise ValueError(f"hub returned invalid JSON with HTTP {status[:3]}")
        return Answer(int(status[:3]), headers, body)

    def _body(self, status: int, headers: dict[str, str], end: float) -> bytes:
        if status in (204, 304):
            return b""
        if headers.get("transfer-encoding", "").lower() == "chunked":
            parts = []
            while size := self._size(self._until(b"\r\n", end).partition(b";")[0].decode("latin-1"), 16):
                parts.append(self._exactly(size, end))
                self._until(b"\r\n", end)
            while self._until(b"\r\n", end):
                pass
            return b"".join(parts)
        return self._exactly(self._size(headers.get("content-length", "0"), 10), end)

    def _size(self, text: str, base: int) -> int:
        try:
            size = int(text, base)
        except ValueError:
            size = -1
        if size < 0:
            raise ValueError(f"what answers at {self.address.url} is no hub")
        return size

    def _until(self, mark: bytes, end: float) -> bytes:
        while mark not in self._rest:
            if len(self._rest) > HEAD_BYTES:
                raise ValueError(f"what answers at {self.address.url} is no hub")
            self._rest += self._receive(end)
        found, _, self._rest = self._rest.partition(mark)
        return found

    def _exactly(self, size: int, end: float) -> bytes:
        parts, missing = [self._rest], size - len(self._rest)
        while missing > 0:
            parts.append(self._receive(end))
            missing -= len(parts[-1])
        data = b"".join(parts)
        self._rest = data[size:]
        return data[:size]

    def _receive(self, end: float) -> bytes:
        if self._socket is None:
            raise ConnectionLost("the connection to the hub is closed")
        left = end - monotonic()
        if left <= 0:
            raise TimeoutError
        self._socket.settimeout(left)
        data: bytes = self._socket.recv(CHUNK)
        if not data:
            raise ConnectionLost("the hub closed the connection before it answered")
        return data

    def close(self) -> None:
        if self._socket is not None:
            self._socket.close()
        self._socket, self._rest = None, b""


def connect(address: Address, timeout_ms: int = TIMEOUT_MS) -> Any:
    """A connected socket.

    Raises:
        Unreachable: the text is the cause, as `ECONNREFUSED`.
    """
    if address.unix is not None:
        try:
            return _connected(_socket.AF_UNIX, address.unix, timeout_ms)
        except OSError:
            pass  # a socket file left by a hub that was killed; the hub of today may still listen on TCP
    try:
        # A name in bytes is taken as it is; for a str the idna codec is loaded, and `re` with it.
        found = _socket.getaddrinfo(address.host.encode("ascii"), address.port, 0, _socket.SOCK_STREAM)
    except (OSError, UnicodeError):
        raise Unreachable(f"host name {address.host} not found") from None
    why = "no address"
    for family, _, _, _, where in found:
        try:
            return _secured(_connected(family, where, timeout_ms), address)
        except OSError as error:
            why = cause(error)
    raise Unreachable(why)


def cause(error: OSError) -> str:
    """The name of an operating system's error, as `ECONNREFUSED`."""
    from errno import errorcode

    if isinstance(error, TimeoutError) and error.errno is None:
        return "ETIMEDOUT"
    return errorcode.get(error.errno or 0, type(error).__name__)


def _connected(family: int, where: Any, timeout_ms: int) -> Any:
    made = _socket.socket(family, _socket.SOCK_STREAM)
    try:
        made.settimeout(timeout_ms / 1000)
        made.connect(where)
        if family != _socket.AF_UNIX:
            made.setsockopt(_socket.IPPROTO_TCP, _socket.TCP_NODELAY, 1)
    except BaseException:
        made.close()
        raise
    return made


def _secured(plain: Any, address: Address) -> Any:
    if not address.tls:
        return plain
    import socket
    import ssl

    wrapped = socket.socket(fileno=plain.detach())
    return ssl.create_default_context().wrap_socket(wrapped, server_hostname=address.host)
