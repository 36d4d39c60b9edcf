"""Streams: opened once, closed once, held back when the peer takes nothing, cut off when it never does (R9)."""

import socket
import sys
from collections.abc import Iterator

import pytest

from peerline.core.limits import STREAM_BUFFER_BYTES
from peerline.server.deadlines import Deadlines
from peerline.server.protocol import Connection
from tests.server.echo_server import EchoServer, EchoStream, Raw

FRAME = b"data: " + b"x" * 1_000 + b"\n\n"


@pytest.fixture(params=["protocol", "asgi"])
def both(request: pytest.FixtureRequest) -> Iterator[EchoServer]:
    server = EchoServer(request.param).start()
    yield server
    server.stop()


@pytest.fixture
def server() -> Iterator[EchoServer]:
    server = EchoServer(deadlines=Deadlines(stall_s=30)).start()
    yield server
    server.stop()


def opened(server: EchoServer, raw: Raw) -> EchoStream:
    raw.get("/stream")
    server.event("asked")
    stream = server.event("opened")
    assert isinstance(stream, EchoStream)
    return stream


def write(server: EchoServer, stream: EchoStream, data: bytes) -> None:
    assert stream.sink is not None
    server.call(lambda: stream.sink.write(data))  # type: ignore[union-attr]


def fill(server: EchoServer, stream: EchoStream) -> int:
    """Write until the sink says no, as a stream should, and return how much that was."""
    sink = stream.sink
    assert sink is not None
    size = 0
    while not server.call(lambda: sink.paused):
        server.call(lambda: sink.write(FRAME * 60))
        size += 60 * len(FRAME)
    return size


def waiting(server: EchoServer, stream: EchoStream) -> int:
    connection = stream.sink
    assert isinstance(connection, Connection)
    assert connection.transport is not None
    return int(server.call(connection.transport.get_write_buffer_size))


def test_a_stream_begins_at_once_and_carries_what_is_written(both: EchoServer) -> None:
    with both.connect() as raw:
        stream = opened(both, raw)
        status, headers = raw.head()
        assert (status, headers["content-type"], headers["x-request-id"]) == (200, "text/event-stream", "req_test")
        assert "content-length" not in headers
        for data in (b"event: ready\n\n", b"data: 1\n\n"):
            write(both, stream, data)
            if both.http == "asgi":
                assert raw.chunk() == data
            else:
                assert raw.read(len(data)) == data
    assert both.event("closed") is stream
    assert both.app.events.empty()


def test_a_stream_that_the_application_ends_is_closed_once(both: EchoServer) -> None:
    with both.connect() as raw:
        stream = opened(both, raw)
        raw.head()
        sink = stream.sink
        assert sink is not None

        def end() -> None:
            sink.write(b"last")
            sink.close()
            sink.close()
            sink.write(b"too late")

        both.call(end)
        if both.http == "asgi":
            assert raw.chunk() == b"last"
            assert raw.chunk() == b""
        else:
            assert raw.rest() == b"last"
    assert both.event("closed") is stream
    assert both.app.events.empty()


def test_a_slow_reader_is_waited_for_and_gets_every_byte(both: EchoServer) -> None:
    with both.connect() as raw:
        stream = opened(both, raw)
        raw.head()
        left = fill(both, stream)
        while left:
            data = raw.chunk() if both.http == "asgi" else raw.read(len(FRAME))
            left -= len(data)
        assert both.event("resumed") is stream
        sink = stream.sink
        assert sink is not None
        assert both.call(lambda: sink.paused) is False


def test_a_stream_written_to_beyond_its_buffer_is_cut_off(both: EchoServer) -> None:
    with both.connect() as raw:
        stream = opened(both, raw)
        fill(both, stream)
        for _ in range(STREAM_BUFFER_BYTES // len(FRAME) + 2):
            write(both, stream, FRAME)
        assert both.event("closed") is stream


def test_a_stream_whose_reader_stands_still_is_cut_off(server: EchoServer) -> None:
    with server.connect() as raw:
        stream = opened(server, raw)
        fill(server, stream)
        for _ in range(4):
            server.turn(31)
        assert server.event("closed") is stream
        assert server.app.events.empty()


def test_a_stream_whose_reader_moves_is_not_cut_off(server: EchoServer) -> None:
    with server.connect() as raw:
        # Else the system widens the reader's window while it reads, and takes all that waits at the second look.
        raw.connection.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 65_536)
        stream = opened(server, raw)
        raw.head()
        left = fill(server, stream)
        write(server, stream, FRAME * 800)
        left += 800 * len(FRAME)
        looks = 0
        while before := waiting(server, stream):
            server.turn(20)
            while waiting(server, stream) >= before:
                left -= len(raw.read(4_096))
            looks += 1
        raw.read(left)
        assert looks >= 3  # so that it took longer than the deadline
        assert server.event("resumed") is stream
        write(server, stream, b"end")
        assert raw.read(3) == b"end"


def test_an_idle_stream_has_no_deadline(server: EchoServer) -> None:
    with server.connect() as raw:
        stream = opened(server, raw)
        raw.head()
        assert server.watched() == 0
        server.turn(100_000)
        write(server, stream, b"still here")
        assert raw.read(10) == b"still here"


def test_what_a_streams_reader_sends_is_read_over(server: EchoServer) -> None:
    with server.connect() as raw:
        stream = opened(server, raw)
        raw.head()
        raw.get("/echo")
        raw.send(b"\x00noise" * 10_000)
        with server.connect() as other:
            other.get("/echo/other")
            other.answer()
        assert server.event("asked").path == "/echo/other"
        write(server, stream, b"still here")
        assert raw.read(10) == b"still here"


def test_a_stream_ends_when_its_reader_shuts_its_side(server: EchoServer) -> None:
    with server.connect() as raw:
        stream = opened(server, raw)
        raw.head()
        raw.connection.shutdown(socket.SHUT_WR)
        assert server.event("closed") is stream
        assert raw.rest() == b""


def test_a_stream_opened_behind_a_large_answer_still_learns_that_its_reader_left(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.send(b"GET /big?5000000 HTTP/1.1\r\nHost: h\r\n\r\nGET /stream HTTP/1.1\r\nHost: h\r\n\r\n")
        assert len(raw.answer().body) == 5_000_000
        raw.head()
        server.event("asked")
        server.event("asked")
        stream = server.event("opened")
        assert server.event("resumed") is stream
    assert server.event("closed") is stream


def test_a_stream_that_fails_to_open_ends_alone(server: EchoServer, monkeypatch: pytest.MonkeyPatch) -> None:
    def fail(self: EchoStream, sink: object) -> None:
        raise RuntimeError("a fault of the application")

    with server.connect() as raw:
        monkeypatch.setattr(EchoStream, "opened", fail)
        raw.get("/stream")
        raw.rest()
        server.event("asked")
        server.event("closed")
    with server.connect() as raw:
        raw.get()
        assert raw.answer().status == 200


@pytest.mark.skipif(sys.platform != "linux", reason="the option has another name elsewhere")
def test_the_kernel_gives_up_on_a_streams_cut_cable_when_we_would(server: EchoServer) -> None:
    with server.connect() as raw:
        stream = opened(server, raw)
        connection = stream.sink
        assert isinstance(connection, Connection)
        assert connection.transport is not None
        sock = connection.transport.get_extra_info("socket")
        assert server.call(lambda: sock.getsockopt(socket.IPPROTO_TCP, socket.TCP_USER_TIMEOUT)) == 30_000


def test_an_open_stream_keeps_no_parser(server: EchoServer) -> None:
    with server.connect() as raw:
        stream = opened(server, raw)
        raw.head()
        assert getattr(stream.sink, "_parser") is None  # noqa: B009
