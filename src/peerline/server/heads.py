"""Header blocks that were read before: the next request with the same one is read without the parser.

An agent's requests differ in their first line, their length and their body. What the strict parser made of the rest
is kept by its bytes, and only of requests that are plain in every way; all else goes to the parser.
"""

import re
from typing import Final

from peerline.server.exchange import Head, Peer, Request

MOST: Final = 4_096  # known blocks; when there are more, all are forgotten and the busy ones come back at once
METHODS: Final = {b"GET": "GET", b"POST": "POST", b"DELETE": "DELETE"}
# No fragment, no space, nothing beyond ASCII in the target.
_LINE: Final = re.compile(rb'(GET|POST|DELETE) (/[!"$->@-~]{0,1900})(?:\?([!"$-~]{0,1900}))? HTTP/1\.1(?=\r\n)')
_LENGTH: Final = re.compile(rb"\r\n[Cc]ontent-[Ll]ength: ?([0-9]{1,6})\r\n")
# With one of these the answer's framing or the reading of the body depends on more than the block's length.
_NOT_PLAIN: Final = ("transfer-encoding", "connection", "expect", "upgrade", "trailer")


class Heads:
    __slots__ = ("_body_bytes", "_exact", "_known")

    def __init__(self, body_bytes: int) -> None:
        self._body_bytes = body_bytes
        self._known: dict[bytes, Head] = {}  # by the block without its length
        self._exact: dict[bytes, tuple[Head, int]] = {}  # by the whole block, which most often comes again too

    def read(self, data: bytes, start: int, peer: Peer) -> tuple[Request, int] | None:
        """The request at `start` and where the next one begins, if it is plain, whole, and its header block known."""
        line = _LINE.match(data, start)
        if line is None:
            return None
        line_end = line.end()
        body = data.find(b"\r\n\r\n", line_end) + 4
        if body < 4:
            return None
        block = data[line_end:body]
        exact = self._exact.get(block) or self._recalled(block)
        if exact is None:
            return None
        head, length = exact
        end = body + length
        if end > len(data):
            return None
        method, path, query = line.groups(b"")
        return (
            Request(METHODS[method], path.decode(), query.decode(), head.headers, data[body:end], peer, head),
            end,
        )

    def _recalled(self, block: bytes) -> tuple[Head, int] | None:
        """A known block with another length."""
        found, length = _split(block)
        head = self._known.get(found)
        if head is None or length > self._body_bytes:
            return None
        if len(self._exact) >= MOST:
            self._exact.clear()
        self._exact[block] = head, length
        return head, length

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
