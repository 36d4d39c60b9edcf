"""The framing of HTTP requests this hub accepts: what the parser lets through and we do not."""

import re
from collections.abc import Iterable
from typing import Final

from peerline.core.errors import InvalidRequest, TooLarge

HEAD_BYTES: Final = 16_384
HEADERS: Final = 100
CHUNK_EXTENSION_BYTES: Final = 1_024

REQUEST_TIMEOUT: Final = "request_timeout"

# Names and methods that come with nearly every request: looked up, not decoded again.
NAMES: Final[dict[bytes, str]] = {
    spelling: name
    for name in (
        *("accept", "accept-encoding", "accept-language", "authorization", "cache-control", "connection"),
        *("content-length", "content-type", "expect", "host", "last-event-id", "origin", "transfer-encoding"),
        *("user-agent", "x-kxm-agent-id", "x-kxm-agent-key", "x-request-id"),
    )
    for spelling in (name.encode(), name.title().encode())
}
METHODS: Final[dict[bytes, str]] = {method.encode(): method for method in ("GET", "POST", "DELETE", "HEAD", "OPTIONS")}


class Refused(Exception):
    """The bytes on this connection cannot be read any further; it is answered once and closed."""

    def __init__(self, status: int, code: str, text: str) -> None:
        super().__init__(text)
        self.status = status
        self.code = code
        self.text = text


def malformed(text: str) -> Refused:
    return Refused(400, InvalidRequest.code, text)


def too_large(limit: int) -> Refused:
    return Refused(413, TooLarge.code, f"request body exceeds {limit} bytes")


def too_slow() -> Refused:
    return Refused(408, REQUEST_TIMEOUT, "request was not received in time")


def split_target(url: bytes, host: str) -> tuple[str, str]:
    """Path and query of a request target, both raw.

    Raises:
        Refused: a fragment, or an absolute form for another host than the Host line's.
    """
    if b"#" in url:
        raise malformed("the request target has a fragment")
    text = url.decode("latin-1")
    if not text.startswith("/") and "://" in text:
        scheme, _, rest = text.partition("://")
        authority = re.split(r"[/?]", rest, maxsplit=1)[0]
        if scheme.lower() != "http" or authority.lower() != host.lower():
            raise malformed("the request target and the Host line name different hosts")
        text = rest[len(authority) :]
        if not text.startswith("/"):
            text = "/" + text
    path, _, query = text.partition("?")
    return path, query


def check_framing(headers: dict[str, str], version: str, body_limit: int) -> None:
    """Judge a whole header block that the parser accepted.

    Raises:
        Refused: 400 for broken framing, 413 for a declared body above `body_limit`.
    """
    if version not in ("1.1", "1.0"):
        raise malformed("only HTTP/1.1 and HTTP/1.0 are spoken here")
    if "host" not in headers:
        raise malformed("a request needs one Host line")
    coding = headers.get("transfer-encoding")
    if coding is not None and (version == "1.0" or coding.lower() != "chunked" or "content-length" in headers):
        raise malformed("the only transfer coding taken is chunked, over HTTP/1.1 and without a length")
    length = headers.get("content-length")
    if length is not None:
        if not (length.isascii() and length.isdigit()):
            raise malformed("Content-Length is not a number")
        if len(length) > 18 or int(length) > body_limit:
            raise too_large(body_limit)


def add_header(headers: dict[str, str], name: str, value: str) -> None:
    """Add one header line; values of a repeated name are joined.

    Raises:
        Refused: a second Host, Content-Length or Transfer-Encoding.
    """
    if name not in headers:
        headers[name] = value
    elif name in ("host", "content-length", "transfer-encoding"):
        raise malformed(f"two {name} lines")
    else:
        headers[name] += ", " + value


def fold_headers(pairs: Iterable[tuple[bytes, bytes]]) -> dict[str, str]:
    """All header lines of a request at once, for a caller that gets them as a list.

    Raises:
        Refused: too many, too large, or one of them twice that may stand only once.
    """
    headers: dict[str, str] = {}
    count = size = 0
    for name, value in pairs:
        count += 1
        size += len(name) + len(value) + 4
        add_header(headers, name.decode("latin-1").lower(), value.decode("latin-1"))
    if count > HEADERS or size > HEAD_BYTES:
        raise malformed("too many or too large headers")
    return headers
