"""Stopping: nothing new, pending answers finished, streams ended (R35)."""

import json

import pytest

from peerline.server.deadlines import Deadlines
from peerline.server.exchange import Response
from tests.server.echo_server import JSON, Caller, EchoServer


@pytest.mark.parametrize("caller", ["protocol", "asgi"])
def test_a_pending_answer_is_finished_and_a_stream_ended(caller: Caller) -> None:
    server = EchoServer(caller).start()
    with server.connect() as waiting, server.connect() as reader, server.connect() as idle:
        idle.get()
        idle.answer()
        server.event("asked")
        waiting.get("/later/1")
        server.event("asked")
        reader.get("/stream")
        server.event("asked")
        stream = server.event("opened")
        server.begin_stop()
        assert server.event("closed") is stream
        assert idle.rest() == b""
        with pytest.raises(ConnectionRefusedError):
            server.connect()
        server.settle("1", Response(status=200, headers=JSON, body=b"{}"))
        assert waiting.answer().body == b"{}"
        assert waiting.rest() == b""
    server.stop()


def test_half_a_request_is_told_that_the_hub_stops() -> None:
    server = EchoServer().start()
    with server.connect() as raw, server.connect() as other:
        raw.send(b"POST /echo HTTP/1.1\r\nHost: h\r\nContent-Length: 10\r\n\r\nhalf")
        other.get()
        other.answer()
        server.begin_stop()
        answer = raw.answer()
        assert (answer.status, answer.json["code"]) == (503, "hub_stopping")
        assert raw.rest() == b""
    server.stop()


def test_no_request_is_taken_after_the_stop() -> None:
    server = EchoServer().start()
    with server.connect() as raw, server.connect() as idle:
        raw.get("/later/1")
        server.event("asked")
        server.begin_stop()
        assert idle.rest() == b""
        raw.get("/echo/late")
        server.settle("1", Response(status=200, headers=JSON, body=b"{}"))
        assert raw.answer().status == 200
        assert raw.rest() == b""
        assert server.app.events.empty()
    server.stop()


def test_what_never_settles_does_not_hold_up_the_stop() -> None:
    server = EchoServer(deadlines=Deadlines(drain_s=0.05)).start()
    with server.connect() as raw:
        raw.get("/later/1")
        server.event("asked")
        server.stop()
        assert raw.rest() == b""


def test_a_refused_peer_that_stays_does_not_hold_up_the_stop() -> None:
    server = EchoServer(deadlines=Deadlines(drain_s=0.05)).start()
    with server.connect() as raw:
        raw.send(b"noise\r\n\r\n")
        assert json.loads(raw.answer().body)["code"] == "invalid_request"
        server.stop()
