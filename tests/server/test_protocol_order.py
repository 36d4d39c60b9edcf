"""Many requests on one connection are answered in their order, and only so many at once."""

import socket
from collections.abc import Iterator

import pytest

from peerline.server.exchange import Response
from peerline.server.protocol import PIPELINE, SLICE
from tests.server.echo_server import JSON, WAIT_S, EchoServer, EchoStream

GET = b"GET %s HTTP/1.1\r\nHost: h\r\n\r\n"


@pytest.fixture
def server() -> Iterator[EchoServer]:
    server = EchoServer().start()
    yield server
    server.stop()


def _response(body: bytes) -> Response:
    return Response(status=200, headers=JSON, body=body)


@pytest.mark.parametrize("order", [("1", "2", "3"), ("3", "2", "1"), ("2", "3", "1")])
def test_answers_leave_in_the_order_of_their_requests(server: EchoServer, order: tuple[str, ...]) -> None:
    with server.connect() as raw:
        raw.send(GET % b"/later/1" + GET % b"/later/2" + GET % b"/echo" + GET % b"/later/3")
        for _ in range(4):
            server.event("asked")
        for key in order:
            server.settle(key, _response(key.encode()))
        answers = [raw.answer().body for _ in range(4)]
    assert answers[0:2] == [b"1", b"2"]
    assert b'"/echo"' in answers[2]
    assert answers[3] == b"3"


def test_requests_sent_together_are_asked_together(server: EchoServer) -> None:
    """So that an acknowledgement and a reply sent back to back can share one commit."""
    with server.connect() as raw:
        raw.send(GET % b"/later/1" + GET % b"/later/2")
        assert server.event("asked").path == "/later/1"
        assert server.event("asked").path == "/later/2"
        server.settle("2", _response(b""))
        server.settle("1", _response(b""))
        assert raw.answer().status == 200


def test_a_pipeline_is_not_read_beyond_its_depth_and_goes_on_afterwards(server: EchoServer) -> None:
    count = 1_000
    with server.connect() as raw:
        raw.send(b"".join(GET % b"/later/%d" % number for number in range(count)))
        for number in range(PIPELINE):
            assert server.event("asked").path == f"/later/{number}"
        with server.connect() as other:
            other.get("/echo/other")
            assert other.answer().status == 200
        at_once = server.call(lambda: len(server.app.pending))
        assert PIPELINE <= at_once <= PIPELINE + SLICE // len(GET)
        done = 0
        while done < count:
            for key in server.call(lambda: sorted(server.app.pending, key=int)):
                server.settle(key, _response(key.encode()))
                assert raw.answer().body == str(done).encode()
                done += 1


def test_a_declined_upgrade_in_a_full_pipeline_loses_nothing(server: EchoServer) -> None:
    upgrade = b"GET /later/%d HTTP/1.1\r\nHost: h\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n"
    count = PIPELINE * 4
    with server.connect() as raw:
        raw.send(b"".join(upgrade % number for number in range(count)))
        for number in range(count):
            assert server.event("asked").path == f"/later/{number}"
            server.settle(str(number), _response(str(number).encode()))
            assert raw.answer().body == str(number).encode()


def test_a_refusal_waits_for_the_answers_before_it(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.send(GET % b"/later/1" + b"noise\r\n\r\n" + GET % b"/echo")
        server.event("asked")
        server.settle("1", _response(b"first"))
        assert raw.answer().body == b"first"
        assert raw.answer().status == 400
        assert raw.rest() == b""


def test_after_a_request_that_closes_nothing_is_asked(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.send(b"GET /later/1 HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n" + GET % b"/echo/never")
        server.event("asked")
        server.settle("1", _response(b"last"))
        assert raw.answer().headers["connection"] == "close"
        assert raw.rest() == b""
    assert server.app.events.empty()


def test_a_stream_waits_for_the_answers_before_it_and_nothing_follows_it(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.send(GET % b"/later/1" + GET % b"/stream" + GET % b"/echo/never")
        server.event("asked")
        server.event("asked")
        server.settle("1", _response(b"first"))
        assert raw.answer().body == b"first"
        stream = server.event("opened")
        server.call(lambda: stream.sink.write(b"data: 1\n\n"))
        assert raw.head()[1]["content-type"] == "text/event-stream"
        assert raw.read(9) == b"data: 1\n\n"
    server.event("closed")
    assert server.app.events.empty()


def test_leave_to_send_a_body_waits_its_turn(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.send(
            GET % b"/later/1" + b"POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 1\r\n\r\n"
        )
        server.event("asked")
        server.settle("1", _response(b"first"))
        assert raw.answer().body == b"first"
        assert raw.head()[0] == 100
        raw.send(b"a")
        assert raw.answer().json["body"] == "a"


def test_a_stream_that_comes_for_a_caller_who_has_gone_is_closed(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/later/1")
        server.event("asked")
    server.settle("1", EchoStream(server.app))
    kinds = [server.app.events.get(timeout=WAIT_S)[0]]
    if kinds == ["opened"]:  # its end had not been seen here yet
        kinds.append(server.app.events.get(timeout=WAIT_S)[0])
    assert kinds[-1] == "closed"
    assert server.app.events.empty()


def test_a_stream_is_not_opened_to_a_peer_that_has_shut_its_side(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/later/1")
        raw.connection.shutdown(socket.SHUT_WR)
        server.event("asked")
        with server.connect() as other:  # asked after, so answered after the shutting was seen
            other.get()
            other.answer()
        server.event("asked")
        server.settle("1", EchoStream(server.app))
        server.event("closed")
        assert raw.rest() == b""


def test_whoever_has_sent_all_of_it_and_shuts_its_side_still_gets_the_answer(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/later/1")
        raw.connection.shutdown(socket.SHUT_WR)
        server.event("asked")
        server.settle("1", _response(b"{}"))
        assert raw.answer().status == 200
        assert raw.rest() == b""


def test_a_pipelining_peer_that_reads_nothing_is_not_read_either(server: EchoServer) -> None:
    count, size, get = 600, 100_000, GET % b"/big?100000"
    with server.connect() as raw:
        raw.send(get * count)
        server.event("asked")
        with server.connect() as other:
            other.get()
            other.answer()
        assert server.call(server.app.events.qsize) <= 2 * (SLICE // len(get) + 1)
        for _ in range(count):
            assert len(raw.answer().body) == size
