"""Bytes that reach the server, and what has to come back."""

from dataclasses import dataclass
from typing import Final

OK: Final = (200, "")
BAD: Final = (400, "invalid_request")
LARGE: Final = (413, "payload_too_large")
NO_ROUTE: Final = (404, "route_not_found")


@dataclass(frozen=True, slots=True)
class Row:
    """`answers` in order; `closed` after the last. `blind`: why plain ASGI cannot know, or is told otherwise."""

    name: str
    sent: bytes
    answers: tuple[tuple[int, str], ...]
    closed: bool
    blind: str = ""


def _bad(name: str, sent: bytes, blind: str = "") -> Row:
    return Row(name, sent, (BAD,), True, blind)


def _ok(name: str, sent: bytes, answers: int = 1, *, closed: bool = False, blind: str = "") -> Row:
    return Row(name, sent, (OK,) * answers, closed, blind)


def _get(*lines: bytes, target: bytes = b"/echo", host: bytes = b"Host: h") -> bytes:
    return b"\r\n".join([b"GET " + target + b" HTTP/1.1", *([host] if host else []), *lines, b"", b""])


def _post(*lines: bytes, body: bytes = b"", host: bytes = b"Host: h") -> bytes:
    return b"\r\n".join([b"POST /echo HTTP/1.1", host, *lines, b"", body])


CHUNKED: Final = b"Transfer-Encoding: chunked"
FOUR: Final = b"Content-Length: 4"
CONTENT: Final = b"Content-Length: 3"
OVERTAKEN: Final = "the refusal below overtakes the answer before it"
HIDDEN: Final = "the server below answers before the application sees it"

LENGTHS: Final = (
    _ok("no body", _get()),
    _ok("a body with its length", _post(FOUR, body=b"abcd")),
    _ok("length zero", _post(b"Content-Length: 0")),
    _ok("length with leading zeros", _post(b"Content-Length: 0004", body=b"abcd")),
    _bad("length and chunked", _post(FOUR, CHUNKED, body=b"0\r\n\r\n")),
    _bad("chunked and length", _post(CHUNKED, FOUR, body=b"0\r\n\r\n")),
    _bad("two lengths that agree", _post(FOUR, FOUR, body=b"abcd")),
    _bad("two lengths that differ", _post(FOUR, CONTENT, body=b"abcd")),
    _bad("a list of lengths", _post(b"Content-Length: 4, 4", body=b"abcd")),
    _bad("length with a plus", _post(b"Content-Length: +4", body=b"abcd")),
    _bad("length with a minus", _post(b"Content-Length: -4", body=b"abcd")),
    _bad("length in hex", _post(b"Content-Length: 0x4", body=b"abcd")),
    _bad("length with a fraction", _post(b"Content-Length: 4.0", body=b"abcd")),
    _bad("length with a space inside", _post(b"Content-Length: 4 4", body=b"abcd")),
    _bad("length empty", _post(b"Content-Length:", body=b"abcd")),
    _bad("length in words", _post(b"Content-Length: four", body=b"abcd")),
    _bad("length past 64 bits", _post(b"Content-Length: 99999999999999999999999")),
    Row("length above the limit", _post(b"Content-Length: 262145"), (LARGE,), True),
    Row("length far above the limit", _post(b"Content-Length: 9999999999999999"), (LARGE,), True),
    Row("body longer than its length", _post(CONTENT, body=b"abcdefgh"), (OK, BAD), True, OVERTAKEN),
)

CODINGS: Final = (
    _ok("one chunk", _post(CHUNKED, body=b"3\r\nabc\r\n0\r\n\r\n")),
    _ok("three chunks", _post(CHUNKED, body=b"1\r\na\r\n2\r\nbc\r\n1\r\nd\r\n0\r\n\r\n")),
    _ok("chunked in capitals", _post(b"Transfer-Encoding: CHUNKED", body=b"3\r\nabc\r\n0\r\n\r\n")),
    _ok("a chunk with a short extension", _post(CHUNKED, body=b"3;a=b\r\nabc\r\n0\r\n\r\n")),
    _ok("a trailer", _post(CHUNKED, body=b"3\r\nabc\r\n0\r\nX-Late: 1\r\n\r\n")),
    _bad("a chunk with a long extension", _post(CHUNKED, body=b"3;" + b"a" * 3_000 + b"\r\nabc\r\n0\r\n\r\n"), HIDDEN),
    _bad("an extension that never ends", _post(CHUNKED, body=b"3;" + b"a" * 200_000), "no end, no request"),
    _bad("a hundred and one trailers", _post(CHUNKED, body=b"0\r\n" + b"X-T: 1\r\n" * 101 + b"\r\n"), HIDDEN),
    _bad("a large trailer", _post(CHUNKED, body=b"0\r\nX-T: " + b"a" * 20_000 + b"\r\n\r\n"), HIDDEN),
    _bad("chunk size with a minus", _post(CHUNKED, body=b"-1\r\na\r\n0\r\n\r\n")),
    _bad("chunk size with a plus", _post(CHUNKED, body=b"+1\r\na\r\n0\r\n\r\n")),
    _bad("chunk size with 0x", _post(CHUNKED, body=b"0x1\r\na\r\n0\r\n\r\n")),
    _bad("chunk size past 64 bits", _post(CHUNKED, body=b"fffffffffffffffff\r\n")),
    _bad("chunk size empty", _post(CHUNKED, body=b"\r\nabc\r\n0\r\n\r\n")),
    _bad("a chunk ended by a bare LF", _post(CHUNKED, body=b"3\nabc\n0\n\n")),
    _bad("a chunk longer than its size", _post(CHUNKED, body=b"3\r\nabcd\r\n0\r\n\r\n")),
    _bad("gzip", _post(b"Transfer-Encoding: gzip", body=b"abc")),
    _bad("gzip, chunked", _post(b"Transfer-Encoding: gzip, chunked", body=b"3\r\nabc\r\n0\r\n\r\n")),
    _bad("chunked, identity", _post(b"Transfer-Encoding: chunked, identity", body=b"0\r\n\r\n")),
    _bad("identity", _post(b"Transfer-Encoding: identity", FOUR, body=b"abcd")),
    _bad("chunked twice", _post(CHUNKED, CHUNKED, body=b"0\r\n\r\n")),
    _bad("chunked behind a vertical tab", _post(b"Transfer-Encoding: \x0bchunked", body=b"0\r\n\r\n")),
    _bad("xchunked", _post(b"Transfer-Encoding: xchunked", body=b"0\r\n\r\n")),
    _bad("coding empty", _post(b"Transfer-Encoding:", body=b"0\r\n\r\n")),
    _bad("chunked over HTTP/1.0", b"POST /echo HTTP/1.0\r\nHost: h\r\n" + CHUNKED + b"\r\n\r\n0\r\n\r\n"),
    Row(
        "chunks above the limit",
        _post(CHUNKED, body=b"10000\r\n" + b"a" * 65_536 + b"\r\n" + b"30001\r\n" + b"a" * 196_609 + b"\r\n0\r\n\r\n"),
        (LARGE,),
        True,
    ),
)

LINES: Final = (
    _bad("bare LF everywhere", b"GET /echo HTTP/1.1\nHost: h\n\n"),
    _bad("bare LF after a header", b"GET /echo HTTP/1.1\r\nHost: h\nX: 1\r\n\r\n"),
    _bad("bare LF at the end", b"GET /echo HTTP/1.1\r\nHost: h\r\n\n"),
    _bad("bare CR inside a header", _get(b"X: a\rb")),
    _bad("bare CR between headers", b"GET /echo HTTP/1.1\r\nHost: h\rX: 1\r\n\r\n"),
    _bad("a folded header", _get(b"X: a\r\n b")),
    _bad("a header folded by a tab", _get(b"X: a\r\n\tb")),
    _bad("a fold before the first header", b"GET /echo HTTP/1.1\r\n Host: h\r\n\r\n"),
    _bad("a space before the colon", _get(b"X : a")),
    _bad("a space inside a name", _get(b"X Y: a")),
    _bad("no name", _get(b": a")),
    _bad("no colon", _get(b"X")),
    _bad("NUL in a value", _get(b"X: a\0b")),
    _bad("NUL in a name", _get(b"X\0: a")),
    _bad("control character in a value", _get(b"X: a\x01b")),
    _ok("an empty value", _get(b"X:")),
    _ok("bytes above ASCII in a value", _get(b"X: \xff\xe9")),
    _ok("empty lines before the request", b"\r\n\r\n" + _get()),
    _ok("a hundred headers", _get(*[b"X-%d: 1" % number for number in range(99)])),
    _bad("a hundred and one headers", _get(*[b"X-%d: 1" % number for number in range(100)])),
    _ok("a header of 15 KiB", _get(b"X: " + b"a" * 15_360)),
    _bad("a header of 17 KiB", _get(b"X: " + b"a" * 17_408)),
    _bad("headers of 17 KiB together", _get(*[b"X-%d: %s" % (number, b"a" * 350) for number in range(50)])),
    _bad("a header of 1 MiB", _get(b"X: " + b"a" * 1_048_576)),
    _bad("a header that never ends", b"GET /echo HTTP/1.1\r\nHost: h\r\nX: " + b"a" * 40_000, "no end, no request"),
    _bad("a target of 17 KiB", _get(target=b"/echo?" + b"a" * 17_408), "counts header lines only"),
)

HOSTS: Final = (
    _bad("no Host", _get(host=b"")),
    _bad("two Hosts that agree", _get(b"Host: h")),
    _bad("two Hosts that differ", _get(b"Host: other")),
    _bad("two Hosts over HTTP/1.0", b"GET /echo HTTP/1.0\r\nHost: h\r\nHost: h\r\n\r\n"),
    _bad("no Host over HTTP/1.0", b"GET /echo HTTP/1.0\r\n\r\n"),
    _bad("a space before Host's colon", b"GET /echo HTTP/1.1\r\nHost : h\r\n\r\n"),
    _ok("an empty Host is the application's to judge", _get(host=b"Host:")),
    _ok("absolute form for the same host", _get(target=b"http://h/echo")),
    _ok("absolute form in other capitals", _get(target=b"HTTP://H/echo")),
    _bad("absolute form for another host", _get(target=b"http://other/echo"), "the target's host is cut off"),
    _bad("absolute form with another port", _get(target=b"http://h:81/echo"), "the target's host is cut off"),
    _bad("absolute form with a user", _get(target=b"http://me@h/echo"), "the target's host is cut off"),
    _bad("absolute form of another scheme", _get(target=b"https://h/echo"), "the target's scheme is cut off"),
    _bad("a fragment in the target", _get(target=b"/echo#there"), "the fragment is cut off"),
)

REQUEST_LINES: Final = (
    _bad("an unknown method", b"BREW /echo HTTP/1.1\r\nHost: h\r\n\r\n"),
    _bad("a method in small letters", b"get /echo HTTP/1.1\r\nHost: h\r\n\r\n"),
    _ok("a method few know", b"PROPFIND /echo HTTP/1.1\r\nHost: h\r\n\r\n"),
    Row("CONNECT", b"CONNECT h:80 HTTP/1.1\r\nHost: h\r\n\r\n", (NO_ROUTE,), True, "is kept alive below"),
    Row("OPTIONS *", b"OPTIONS * HTTP/1.1\r\nHost: h\r\n\r\n", (NO_ROUTE,), False, "* cannot be parsed below"),
    _bad("a space in the target", b"GET /echo a HTTP/1.1\r\nHost: h\r\n\r\n"),
    _bad("bytes above ASCII in the target", b"GET /echo\xc3\xa9 HTTP/1.1\r\nHost: h\r\n\r\n"),
    _bad("a target without a slash", b"GET echo HTTP/1.1\r\nHost: h\r\n\r\n"),
    _bad("HTTP/0.9", b"GET /echo\r\n\r\n"),
    _bad("HTTP/1.2", b"GET /echo HTTP/1.2\r\nHost: h\r\n\r\n"),
    _bad("HTTP/2.0", b"GET /echo HTTP/2.0\r\nHost: h\r\n\r\n"),
    _bad("the preface of HTTP/2", b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"),
    _bad("a TLS greeting", b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"),
    _bad("noise", b"\x00\x01\x02\x03\r\n\r\n"),
    _ok("HTTP/1.0", b"GET /echo HTTP/1.0\r\nHost: h\r\n\r\n", closed=True),
    _ok("HTTP/1.0 that asks to stay", b"GET /echo HTTP/1.0\r\nHost: h\r\nConnection: keep-alive\r\n\r\n", closed=True),
)

SEQUENCES: Final = (
    _ok("three at once", _get() * 3, 3),
    _ok("a body, then another request", _post(FOUR, body=b"abcd") + _get(), 2),
    _ok("chunks, then another request", _post(CHUNKED, body=b"3\r\nabc\r\n0\r\n\r\n") + _get(), 2),
    Row("a good one, then noise", _get() + b"\x00\x01\x02\r\n\r\n", (OK, BAD), True, OVERTAKEN),
    Row("a good one, then a method unknown", _get() + b"BREW / HTTP/1.1\r\n\r\n", (OK, BAD), True, OVERTAKEN),
    Row("a good one, then one without Host", _get() + _get(host=b""), (OK, BAD), True),
    _ok("close, then noise", _get(b"Connection: close") + b"noise", closed=True),
    _ok("close, then another request", _get(b"Connection: close") + _get(), closed=True),
    _ok("an upgrade to websocket is declined", _get(b"Connection: Upgrade", b"Upgrade: websocket")),
    _ok("what follows a declined upgrade", _get(b"Connection: Upgrade", b"Upgrade: x") + _get(), 2, blind=HIDDEN),
    _ok(
        "an upgrade with a body",
        _post(b"Connection: Upgrade, HTTP2-Settings", b"Upgrade: h2c", b"HTTP2-Settings: AA", FOUR, body=b"abcd")
        + _get(),
        2,
        blind=HIDDEN,
    ),
    _ok(
        "an upgrade with chunks",
        _post(b"Connection: Upgrade", b"Upgrade: h2c", CHUNKED, body=b"3\r\nabc\r\n0\r\n\r\n") + _get(),
        2,
        blind=HIDDEN,
    ),
    _ok("an upgrade that wants to close", _get(b"Connection: close, upgrade", b"Upgrade: x"), closed=True),
)

CORPUS: Final = LENGTHS + CODINGS + LINES + HOSTS + REQUEST_LINES + SEQUENCES
