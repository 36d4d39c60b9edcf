"""Nobody holds a connection by being slow: receipt, idleness, and answers that are not taken (R9, R10)."""

from collections.abc import Iterator

import pytest

from peerline.server.deadlines import Deadlines
from peerline.server.exchange import Response
from tests.server.echo_server import JSON, EchoServer, Raw

HEAD = b"GET /echo HTTP/1.1\r\nHost: h\r\n"
POST = b"POST /echo HTTP/1.1\r\nHost: h\r\n"


@pytest.fixture
def server() -> Iterator[EchoServer]:
    server = EchoServer(deadlines=Deadlines(head_s=15, body_s=30, idle_s=60, stall_s=30, linger_s=3)).start()
    yield server
    server.stop()


def settled(server: EchoServer) -> None:
    """Returns after the server has read what was sent to it before."""
    with server.connect() as other:
        other.get("/echo", "Connection: close")
        other.answer()
        other.rest()
    server.event("asked")


def alive(raw: Raw) -> None:
    raw.get()
    assert raw.answer().status == 200


def test_who_sends_nothing_is_closed_without_a_word(server: EchoServer) -> None:
    with server.connect() as raw:
        settled(server)
        server.turn(15)
        assert raw.rest() == b""


def test_who_sends_nothing_but_line_ends_is_closed_too(server: EchoServer) -> None:
    with server.connect() as raw:
        for _ in range(5):
            raw.send(b"\r\n")
            settled(server)
            server.turn(3)
        assert raw.rest() == b""


@pytest.mark.parametrize("sent", [b"GET /", HEAD, HEAD + b"X: " + b"a" * 5_000, b"\r\n" + HEAD])
def test_a_header_block_that_trickles_is_refused_in_time_however_busy_it_looks(server: EchoServer, sent: bytes) -> None:
    with server.connect() as raw:
        raw.send(sent)
        for _ in range(13):
            settled(server)
            server.turn(1)
            raw.send(b"e")
        settled(server)
        server.turn(2)
        answer = raw.answer()
        assert (answer.status, answer.json["code"]) == (408, "request_timeout")
        assert answer.headers["connection"] == "close"
        assert raw.rest() == b""


@pytest.mark.parametrize(
    "sent",
    [
        POST + b"Content-Length: 1000\r\n\r\na",
        POST + b"Transfer-Encoding: chunked\r\n\r\n1\r\na\r\n",
        POST + b"Content-Length: 100000\r\n\r\n" + b"a" * 70_000,
    ],
)
def test_a_body_that_trickles_is_refused_in_time(server: EchoServer, sent: bytes) -> None:
    with server.connect() as raw:
        raw.send(sent)
        settled(server)
        server.turn(27)
        raw.send(b"1" if b"chunked" in sent else b"b")
        settled(server)
        server.turn(3)
        answer = raw.answer()
        assert (answer.status, answer.json["code"]) == (408, "request_timeout")
        assert raw.rest() == b""


def test_a_body_may_take_longer_than_a_header_block(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.send(POST + b"Content-Length: 4\r\n\r\nab")
        settled(server)
        server.turn(20)
        raw.send(b"cd")
        assert raw.answer().json["body"] == "abcd"


def test_between_requests_there_is_more_time_and_the_clock_starts_anew_with_each(server: EchoServer) -> None:
    with server.connect() as raw:
        for _ in range(3):
            alive(raw)
            server.event("asked")
            server.turn(50)
        server.turn(10)
        assert raw.rest() == b""


def test_the_second_request_has_its_deadline_too(server: EchoServer) -> None:
    with server.connect() as raw:
        alive(raw)
        server.event("asked")
        raw.send(HEAD)
        settled(server)
        server.turn(15)
        assert raw.answer().status == 408


def test_while_the_answer_is_ours_to_give_no_deadline_runs(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/later/1")
        server.event("asked")
        for _ in range(5):
            server.turn(100)
        server.settle("1", Response(status=200, headers=JSON, body=b"{}"))
        assert raw.answer().status == 200
        server.turn(50)
        alive(raw)


def test_an_answer_that_comes_meanwhile_gives_half_a_request_no_more_time(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/later/1")
        raw.send(HEAD)
        server.event("asked")
        settled(server)
        server.turn(10)
        server.settle("1", Response(status=200, headers=JSON, body=b"{}"))
        assert raw.answer().status == 200
        server.turn(5)
        assert raw.answer().status == 408


def test_a_late_half_request_is_refused_after_the_answer_that_is_pending(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/later/1")
        raw.send(HEAD)
        server.event("asked")
        settled(server)
        server.turn(20)
        server.settle("1", Response(status=200, headers=JSON, body=b"first"))
        assert raw.answer().body == b"first"
        assert raw.answer().status == 408


def test_who_never_reads_the_answer_is_cut_off(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/big?20000000")
        server.event("asked")
        settled(server)
        assert server.watched() == 1
        server.turn(15)
        assert server.watched() == 1
        for _ in range(3):
            server.turn(30)
        assert server.watched() == 0
        assert len(raw.rest()) < 20_000_000


def test_who_reads_slowly_but_reads_is_served(server: EchoServer) -> None:
    size = 20_000_000
    with server.connect() as raw:
        raw.get(f"/big?{size}")
        server.event("asked")
        status, headers = raw.head()
        assert (status, headers["content-length"]) == (200, str(size))
        for _ in range(8):
            raw.read(size // 10)
            settled(server)
            server.turn(20)
        assert len(raw.read(size // 5)) == size // 5


def test_a_refused_peer_that_stays_is_cut_off(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.send(b"noise\r\n\r\n")
        assert raw.answer().status == 400
        assert raw.rest() == b""  # its own side is still open
        assert server.watched() == 1
        server.turn(4)
        settled(server)
        assert server.watched() == 0


def test_connections_that_have_gone_leave_nothing_on_the_wheel(server: EchoServer) -> None:
    for _ in range(50):
        with server.connect() as raw:
            raw.get("/echo", "Connection: close")
            raw.answer()
            raw.rest()
        server.event("asked")
    assert server.watched() == 0
