"""One request, one answer: the same over the protocol and over plain ASGI."""

import os
import socket
import threading
from collections.abc import Iterator
from pathlib import Path

import pytest

from peerline.server.exchange import Response
from tests.server.echo_server import JSON, EchoServer


@pytest.fixture(params=["protocol", "asgi"])
def server(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[EchoServer]:
    folder = tmp_path / "own"
    server = EchoServer(request.param, socket_path=folder / "hub.sock").start()
    yield server
    server.stop()


def test_a_request_arrives_as_it_was_sent(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.send(
            b"POST /echo/a%2Fb?x=%31&y HTTP/1.1\r\nHost: h:1\r\nX-Two: a\r\nX-TWO: b\r\n"
            b"Content-Length: 5\r\n\r\na\x00\xffbc"
        )
        seen = raw.answer().json
    assert seen["method"] == "POST"
    assert seen["path"] == "/echo/a%2Fb"
    assert seen["query"] == "x=%31&y"
    assert seen["headers"] == {"host": "h:1", "x-two": "a, b", "content-length": "5"}
    assert seen["body"] == "a\x00\xffbc"
    assert seen["peer"] == ["127.0.0.1", False, None]


def test_a_forwarded_header_makes_nobody_someone_else(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/echo", "X-Forwarded-For: 192.0.2.7", "X-Forwarded-Proto: https", "Forwarded: for=192.0.2.7")
        assert raw.answer().json["peer"] == ["127.0.0.1", False, None]


def test_an_answer_has_the_applications_headers_and_its_length(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/big?5")
        answer = raw.answer()
    assert answer.status == 200
    assert answer.headers == {"content-type": "application/json", "x-request-id": "req_test", "content-length": "5"}
    assert answer.body == b"xxxxx"


def test_an_answer_without_content_has_neither_body_nor_length(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/none")
        answer = raw.answer()
        assert answer.status == 204
        assert answer.headers == dict(JSON)
        raw.get()
        assert raw.answer().status == 200


def test_head_is_answered_like_get_without_the_body(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.send(b"HEAD /big?70 HTTP/1.1\r\nHost: h\r\n\r\n")
        assert raw.answer(bodiless=True).headers["content-length"] == "70"
        raw.get()
        assert raw.answer().status == 200


def test_head_on_a_stream_is_answered_by_its_headers(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.send(b"HEAD /stream HTTP/1.1\r\nHost: h\r\nConnection: close\r\n\r\n")
        status, headers = raw.head()
        assert (status, headers["content-type"]) == (200, "text/event-stream")
        assert raw.rest() == b""
    server.event("asked")
    server.event("closed")


@pytest.mark.parametrize("size", [0, 1, 65_536, 262_144])
def test_a_body_up_to_the_limit_arrives_whole(server: EchoServer, size: int) -> None:
    with server.connect() as raw:
        raw.send(b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: %d\r\n\r\n" % size + b"z" * size)
        assert raw.answer().json["body"] == "z" * size
        raw.send(
            b"POST /echo HTTP/1.1\r\nHost: h\r\nTransfer-Encoding: chunked\r\n\r\n"
            + (b"%x\r\n" % size + b"z" * size + b"\r\n" if size else b"")
            + b"0\r\n\r\n"
        )
        assert raw.answer().json["body"] == "z" * size


@pytest.mark.parametrize("sender", [b"", b"Transfer-Encoding: chunked\r\n"])
def test_a_refused_body_can_still_be_sent_while_its_refusal_is_read(server: EchoServer, sender: bytes) -> None:
    size = 1_000_000
    head = sender or b"Content-Length: %d\r\n" % size
    body = b"z" * size if not sender else b"%x\r\n" % size + b"z" * size + b"\r\n0\r\n\r\n"
    with server.connect() as raw:
        raw.send(b"POST /echo HTTP/1.1\r\nHost: h\r\n" + head + b"\r\n" + body[:1_000])
        writing = threading.Thread(target=_send_what_is_taken, args=(raw.connection.dup(), body[1_000:]))
        writing.start()
        answer = raw.answer()
        writing.join()
        assert (answer.status, answer.json["code"]) == (413, "payload_too_large")
        assert raw.rest() == b""


def _send_what_is_taken(connection: socket.socket, body: bytes) -> None:
    with connection:
        try:
            connection.sendall(body)
        except OSError:
            pass


def test_who_asks_for_leave_to_send_a_body_gets_it(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.send(b"POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 4\r\n\r\n")
        assert raw.head() == (100, {})
        raw.send(b"abcd")
        assert raw.answer().json["body"] == "abcd"


def test_who_asks_for_leave_to_send_too_much_is_refused_before(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.send(b"POST /echo HTTP/1.1\r\nHost: h\r\nExpect: 100-continue\r\nContent-Length: 999999\r\n\r\n")
        assert raw.answer().status == 413


def test_the_application_may_close(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/close")
        answer = raw.answer()
        assert answer.headers["connection"] == "close"
        assert raw.rest() == b""


def test_an_answer_may_come_later(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/later/1")
        server.event("asked")
        server.settle("1", Response(status=202, headers=JSON, body=b"{}"))
        assert raw.answer().status == 202
        raw.get()
        assert raw.answer().status == 200


def test_a_fault_of_the_application_is_an_answer(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/fail")
        answer = raw.answer()
        assert (answer.status, answer.json["code"]) == (500, "internal_error")
        raw.get("/later/1")
        server.event("asked")
        server.event("asked")
        server.call(lambda: server.app.pending["1"].fail(RuntimeError("a fault of the writer")))
        assert raw.answer().json["code"] == "internal_error"


def test_a_response_header_cannot_start_a_second_answer(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/split", "Connection: close")
        status, headers = raw.head()
        assert status == 500
        assert "x-b" not in headers


def test_a_caller_that_goes_away_does_no_harm(server: EchoServer) -> None:
    with server.connect() as raw:
        raw.get("/later/1")
        server.event("asked")
    with server.connect() as raw:
        raw.get()  # answered after the server has seen the other go
        assert raw.answer().status == 200
    server.settle("1", Response(status=200, headers=JSON))
    with server.connect() as raw:
        raw.get()
        assert raw.answer().status == 200


def test_the_users_own_socket_names_its_peer(server: EchoServer) -> None:
    with server.connect_unix() as raw:
        raw.get()
        assert raw.answer().json["peer"] == ["unix", True, os.getuid() if server.http == "protocol" else None]
