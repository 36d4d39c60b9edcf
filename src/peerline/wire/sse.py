"""Frames of the push stream (spec/hub.md 3.9; resume tokens: decision 3)."""

HEADERS = (
    ("content-type", "text/event-stream"),
    ("cache-control", "no-cache, no-transform"),
    ("x-accel-buffering", "no"),
)
HEARTBEAT = b": heartbeat\n\n"


def frame(kind: str, token: int, data: bytes) -> bytes:
    """`data` is one line of JSON; `token` the number of the last own event this stream has written."""
    return b"event: %b\nid: %d\ndata: %b\n\n" % (kind.encode(), token, data)


def message_frame(kind: str, token: int, record: tuple[bytes, bytes]) -> tuple[bytes, bytes, bytes, bytes]:
    """In pieces, so that a large record is not copied."""
    name = kind.encode()
    return b'event: %b\nid: %d\ndata: {"type":"%b","message":' % (name, token, name), *record, b"}\n\n"
