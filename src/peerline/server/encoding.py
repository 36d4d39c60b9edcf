"""The bytes of an answer: status line, headers and body."""

from functools import lru_cache
from http import HTTPStatus
from typing import Final

from peerline.server.exchange import Response

STATUS_LINES: Final[dict[int, str]] = {
    status.value: f"HTTP/1.1 {status.value} {status.phrase}\r\n" for status in HTTPStatus
}
BODILESS: Final = frozenset({204, 304})
CONTINUE: Final = b"HTTP/1.1 100 Continue\r\n\r\n"
_newest: Final[dict[int, tuple[tuple[tuple[str, str], ...], str]]] = {}  # by status: headers, and what they look like


def encode_response(response: Response, bodiless: bool, close: bool) -> tuple[bytes, ...]:
    """The whole answer, in pieces; with `bodiless` (HEAD) the length stays and the body goes.

    Raises:
        ValueError: a header that would break the framing.
    """
    status, headers, pieces = response.status, response.headers, response.pieces
    known = _newest.get(status)
    if known is None or known[0] is not headers:  # hashing the lines would cost more than writing the answer
        known = _newest[status] = headers, encode_head(status, headers)
    head = known[1]
    end = "connection: close\r\n\r\n" if close else "\r\n"
    if status in BODILESS:
        return (f"{head}{response.lines}{end}".encode("latin-1"),)
    length = 0 if pieces else len(response.body)
    for piece in pieces:
        length += len(piece)
    encoded = f"{head}{response.lines}content-length: {length}\r\n{end}".encode("latin-1")
    if bodiless:
        return (encoded,)
    return (encoded, *pieces) if pieces else (encoded, response.body)


def encode_stream_head(headers: tuple[tuple[str, str], ...], lines: str, status: int = 200) -> bytes:
    connection = "Upgrade" if status == 101 else "keep-alive"
    return f"{encode_head(status, headers)}{lines}connection: {connection}\r\n\r\n".encode("latin-1")


@lru_cache(maxsize=64)
def encode_head(status: int, headers: tuple[tuple[str, str], ...]) -> str:
    """Status and header lines; most answers have one of a few fixed sets."""
    lines = "".join([f"{name}: {value}\r\n" for name, value in headers])
    # One line each and nothing more: a value that smuggles a line end would start a second answer.
    if lines.count("\n") != len(headers) or lines.count("\r") != len(headers):
        raise ValueError("line end inside a response header")
    return (STATUS_LINES.get(status) or f"HTTP/1.1 {status} \r\n") + lines
