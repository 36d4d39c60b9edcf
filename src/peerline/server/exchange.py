"""One HTTP exchange as the routes see it, whoever carries the bytes.

Two callers carry them: `server.protocol` (on httptools' parser) and `server.asgi` (plain ASGI). Both read the
whole request (headers ≤ 16 KiB, body ≤ 256 KiB), build a `Request`, call `Application.answer` on the event loop's
thread, and write what comes back: a `Response` at once, a `Later[Response]` when it settles, or a `Stream`.
"""

from dataclasses import dataclass
from typing import Protocol

from peerline.core.histogram import Histogram
from peerline.database.later import Later
from peerline.server.stream import Stream


@dataclass(frozen=True, slots=True, kw_only=True)
class Peer:
    """Who is at the other end: `address` is an IP, or "unix" over the user's socket; `uid` is known only there."""

    address: str
    unix: bool = False
    uid: int | None = None


class Head:
    """A header block: an agent sends the same one with each request, so what follows from it alone is found out once.

    `headers` have lower-case names; of a repeated header the values are joined with ", ". The callers may hand out one
    `Head` for every request with these bytes over the same kind of socket. The rest is the application's: whether the
    guard let it in, whether it announces JSON, whether it asks for short answers, and whom it proves.
    """

    __slots__ = ("admitted", "headers", "json", "known", "minimal")

    def __init__(self, headers: dict[str, str]) -> None:
        self.headers = headers
        self.admitted = False
        self.json: bool | None = None
        self.minimal: bool | None = None
        self.known: object = None


class Request:
    """`headers` have lower-case names; of a repeated header the values are joined with ", ".

    `path` is the raw path, percent escapes and all; `query` the raw query string. The rest is the application's: `id`
    is the request id that every answer carries in `x-request-id`, `remaining` how many requests the rate limit leaves
    to the caller (None: not counted), `timing` where the time until the answer is recorded (None: it only waits).
    """

    __slots__ = ("body", "head", "headers", "id", "method", "path", "peer", "query", "remaining", "timing")

    def __init__(
        self,
        method: str,
        path: str,
        query: str,
        headers: dict[str, str],
        body: bytes,
        peer: Peer,
        head: Head | None = None,
    ) -> None:
        self.method, self.path, self.query = method, path, query
        self.headers, self.body, self.peer = headers, body, peer
        self.head, self.id = head, ""
        self.remaining: int | None = None
        self.timing: Histogram | None = None


class Response:
    """`headers` are complete but for `content-length` and `connection`: the caller adds them (not for a 204).

    `lines` are further header lines, each with its line end, made by `Application.answer` itself from checked values:
    the request's id and the rate limit's counters differ from answer to answer, the rest hardly does. `pieces` are a
    body that is written piece by piece, instead of `body`, so that a large one is not copied.
    """

    __slots__ = ("body", "close", "headers", "lines", "pieces", "status")

    def __init__(
        self,
        status: int,
        headers: tuple[tuple[str, str], ...] = (),
        lines: str = "",
        body: bytes = b"",
        close: bool = False,
        pieces: tuple[bytes, ...] = (),
    ) -> None:
        self.status, self.headers, self.lines = status, headers, lines
        self.body, self.close, self.pieces = body, close, pieces

    @property
    def whole(self) -> bytes:
        """The body, however it was given."""
        return b"".join(self.pieces) or self.body


Answer = Response | Later[Response] | Later[Response | Stream] | Stream


class Application(Protocol):
    def answer(self, request: Request) -> Answer:
        """Answer one request; never raises: a refusal is a Response too."""
        ...

    def refuse(self, status: int, code: str, text: str, peer: Peer) -> Response:
        """The contract's error body for what never became a Request: broken framing, too large, too slow."""
        ...
