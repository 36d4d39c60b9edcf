"""Hostile and odd framing, byte by byte (quality/reliability M14, 3.4)."""

from collections.abc import Iterator

import pytest

from tests.server.echo_server import EchoServer
from tests.server.framing_corpus import CORPUS, OK, Row

EVERYWHERE = [row for row in CORPUS if not row.blind]
HIDDEN = [row for row in CORPUS if row.blind]


@pytest.fixture(scope="module")
def protocol() -> Iterator[EchoServer]:
    server = EchoServer("protocol").start()
    yield server
    server.stop()


@pytest.fixture(scope="module")
def asgi() -> Iterator[EchoServer]:
    server = EchoServer("asgi").start()
    yield server
    server.stop()


def judge(server: EchoServer, row: Row) -> None:
    with server.connect() as raw:
        try:
            raw.send(row.sent)
        except (BrokenPipeError, ConnectionResetError):
            pass  # refused while we were still sending
        for status, code in row.answers:
            answer = raw.answer()
            assert answer.status == status
            assert answer.headers["x-request-id"]
            if (status, code) != OK:
                assert answer.json["code"] == code
        if row.closed:
            assert answer.headers["connection"] == "close"
            assert raw.rest() == b""
        else:
            assert "connection" not in answer.headers
            raw.get()
            assert raw.answer().status == 200


def test_the_corpus_is_as_large_as_promised_and_names_each_row_once() -> None:
    names = [row.name for row in CORPUS]
    assert len(names) >= 80
    assert len(names) == len(set(names))


@pytest.mark.parametrize("row", CORPUS, ids=lambda row: row.name)
def test_the_protocol_answers_every_row(protocol: EchoServer, row: Row) -> None:
    judge(protocol, row)


@pytest.mark.parametrize("row", EVERYWHERE, ids=lambda row: row.name)
def test_plain_asgi_answers_what_it_can_know(asgi: EchoServer, row: Row) -> None:
    judge(asgi, row)


@pytest.mark.parametrize("row", HIDDEN, ids=lambda row: row.name)
def test_what_plain_asgi_cannot_know_never_harms_the_next_caller(asgi: EchoServer, row: Row) -> None:
    with asgi.connect() as hostile, asgi.connect() as other:
        hostile.send(row.sent)
        other.get()
        assert other.answer().status == 200


@pytest.mark.parametrize("row", [row for row in CORPUS if len(row.sent) < 600], ids=lambda row: row.name)
def test_the_answer_does_not_depend_on_how_the_bytes_are_cut(protocol: EchoServer, row: Row) -> None:
    with protocol.connect() as raw:
        for byte in row.sent:
            try:
                raw.send(bytes([byte]))
            except (BrokenPipeError, ConnectionResetError):
                break
        for status, code in row.answers:
            answer = raw.answer()
            assert answer.status == status
            if (status, code) != OK:
                assert answer.json["code"] == code
