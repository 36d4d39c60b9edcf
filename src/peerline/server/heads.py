"""Header blocks that were read before: the next request with the same one is read without the parser.

An agent's requests differ in their first line, their length and their body. What the strict parser made of the rest
is kept by its bytes, and only of requests that are plain in every way; all else goes to the parser.
"""

import re
from typing import Final, NamedTuple

from peerline.server.exchange import Head

MOST: Final = 4_096  # known blocks; when there are more, all are forgotten and the busy ones come back at once
METHODS: Final = {b"GET": "GET", b"POST": "POST", b"DELETE": "DELETE"}
_TARGET: Final = re.compile(rb"/[!\"$-~]*")  # no fragment, no space, nothing beyond ASCII
_LENGTH: Final = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: ?([0-9]{1,6})\r\n")
# With one of these the answer's framing or the reading of the body depends on more than the block's length.
_NOT_PLAIN: Final = ("transfer-encoding", "connection", "expect", "upgrade", "trailer")


class Plain(NamedTuple):
    """One whole request; `end` is where the next one begins."""

    head: Head
    method: str
    path: str
    query: str
    body: bytes
    end: int


class Heads:
    __slots__ = ("_body_bytes", "_exact", "_known")

    def __init__(self, body_bytes: int) -> None:
        self._body_bytes = body_bytes
        self._known: dict[bytes, Head] = {}  # by the block without its length
        self._exact: dict[bytes, tuple[Head, int]] = {}  # by the whole block, which most often comes again too

    def read(self, data: bytes, start: int) -> Plain | None:
        """The request at `start`, if it is plain, whole, and its header block is known."""
        line_end = data.find(b"\r\n", start, start + 2_048)
        head_end = data.find(b"\r\n\r\n", line_end) if line_end > 0 else -1
        if head_end < 0:
            return None
        block = data[line_end : head_end + 4]
        exact = self._exact.get(block)
        if exact is None:
            found = _split(block)
            known = self._known.get(found[0])
            if known is None or found[1] > self._body_bytes:
                return None
            exact = known, found[1]
            if len(self._exact) >= MOST:
                self._exact.clear()
            self._exact[block] = exact
        head, length = exact
        end = head_end + 4 + length
        line = data[start:line_end].split(b" ")
        if end > len(data) or len(line) != 3 or line[2] != b"HTTP/1.1":
            return None
        method = METHODS.get(line[0])
        if method is None or _TARGET.fullmatch(line[1]) is None:
            return None
        path, _, query = line[1].decode("ascii").partition("?")
        return Plain(head, method, path, query, data[head_end + 4 : end], end)

    def end(self, data: bytes, start: int) -> int | None:
        """Where the request at `start` ends, by its length line; None if it is not whole yet or says it otherwise."""
        head_end = data.find(b"\r\n\r\n", start, start + 16_384)
        if head_end < 0:
            return None
        block = data[start : head_end + 4]
        if b"hunked" in block:
            return None
        end = head_end + 4 + _split(block)[1]
        return end if end <= len(data) else None

    def learn(self, data: bytes, headers: dict[str, str]) -> None:
        """Remember the header block of the one request that `data` holds, as the parser read it."""
        if any(name in headers for name in _NOT_PLAIN):
            return
        line_end = data.find(b"\r\n")
        head_end = data.find(b"\r\n\r\n", line_end)
        if line_end < 1 or head_end < 0:
            return
        block, length = _split(data[line_end : head_end + 4])
        if length != int(headers.get("content-length", 0)) or head_end + 4 + length != len(data):
            return  # the length is written in a way that is not ours to skip over
        if len(self._known) >= MOST:
            self._known.clear()
            self._exact.clear()
        self._known[block] = Head(dict(headers))


def _split(block: bytes) -> tuple[bytes, int]:
    """The block without its length, and the length; a block without one has none."""
    found = _LENGTH.search(block)
    if found is None:
        return block, 0
    return block[: found.start(1)] + block[found.end(1) :], int(found[1])
