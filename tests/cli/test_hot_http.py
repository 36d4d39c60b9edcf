"""One connection to a hub, on a real socket."""

import socket
from pathlib import Path

import pytest

from peerline.cli.hot_address import Address
from peerline.cli.hot_http import Connection, ConnectionLost, Unreachable
from tests.cli.servers import request, saying, serving, silent

OK = b'HTTP/1.1 200 OK\r\nContent-Length: 11\r\nX-Request-Id: req_1\r\n\r\n{"ok":true}'


def test_a_request_is_one_http_message_with_its_body_in_utf8() -> None:
    seen: list[bytes] = []

    def turn(connection: socket.socket, asked: bytes) -> None:
        seen.append(asked)
        connection.sendall(OK)

    with serving(turn) as url:
        hub = Connection(Address(f"{url}/kxm"), {"Authorization": "Bearer t"})
        answer = hub.request("POST", "/v1/messages", {"content": "grüß 😀"})
    assert (answer.status, answer.body, answer.headers["x-request-id"]) == (200, {"ok": True}, "req_1")
    head, _, body = seen[0].partition(b"\r\n\r\n")
    authority = url.removeprefix("http://")
    assert head.decode().split("\r\n") == [
        "POST /kxm/v1/messages HTTP/1.1",
        f"Host: {authority}",
        "Authorization: Bearer t",
        "Content-Type: application/json",
        f"Content-Length: {len(body)}",
    ]
    assert body.decode() == '{"content":"grüß 😀"}'


def test_one_connection_serves_several_requests() -> None:
    def turn(connection: socket.socket, asked: bytes) -> None:
        connection.sendall(OK)
        request(connection)
        connection.sendall(b"HTTP/1.1 204 No Content\r\n\r\n")

    with serving(turn) as url:
        hub = Connection(Address(url), {})
        assert hub.request("GET", "/a").status == 200
        assert hub.request("DELETE", "/b").status == 204


@pytest.mark.parametrize("step", [1, 7, 1000])
def test_an_answer_may_come_in_any_pieces(step: int) -> None:
    chunked = b'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\n{"a":\r\n6;x=y\r\n"\xc3\xa4"}\n\r\n0\r\n\r\n'
    pieces = [chunked[at : at + step] for at in range(0, len(chunked), step)]
    with serving(saying(*pieces)) as url:
        assert Connection(Address(url), {}).request("GET", "/").body == {"a": "ä"}


def test_a_connection_that_the_hub_closed_is_opened_again() -> None:
    closing = OK.replace(b"X-Request-Id: req_1", b"Connection: close")
    with serving(saying(closing), saying(closing)) as url:
        hub = Connection(Address(url), {})
        assert [hub.request("GET", "/").status for _ in range(2)] == [200, 200]


@pytest.mark.parametrize("pieces", [(), (b"HTTP/1.1 200 OK\r\n",), (OK[:-3],)])
def test_an_answer_that_ends_early_is_lost(pieces: tuple[bytes, ...]) -> None:
    with serving(saying(*pieces)) as url, pytest.raises(ConnectionLost):
        Connection(Address(url), {}).request("GET", "/")


def test_a_hub_that_says_nothing_is_given_up_with_the_contracts_words() -> None:
    with serving(silent) as url, pytest.raises(ConnectionLost, match=r"^request timed out after 50ms$"):
        Connection(Address(url), {}).request("GET", "/", timeout_ms=50)


@pytest.mark.parametrize(
    ("said", "text"),
    [
        (b"SSH-2.0-OpenSSH\r\n\r\n", "is no hub"),
        (b"x" * 70_000, "is no hub"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\n<ht>", "^hub returned invalid JSON with HTTP 200$"),
        (b"HTTP/1.1 502 No\r\nContent-Length: 2\r\n\r\n[]", "^hub returned invalid JSON with HTTP 502$"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: 1\r\n\r\n\xff", "^hub returned invalid JSON with HTTP 200$"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: -5\r\n\r\n", "is no hub"),
        (b"HTTP/1.1 200 OK\r\nContent-Length: x\r\n\r\n", "is no hub"),
        (b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n", "is no hub"),
    ],
)
def test_what_no_hub_says_is_told_apart_from_a_refusal(said: bytes, text: str) -> None:
    with serving(saying(said)) as url, pytest.raises(ValueError, match=text):
        Connection(Address(url), {}).request("GET", "/")


def test_nobody_listening_is_told_by_the_systems_name() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
    with pytest.raises(Unreachable, match=r"^ECONNREFUSED$"):
        Connection(Address(f"http://127.0.0.1:{port}"), {}).request("GET", "/")


def test_the_users_socket_is_used_when_it_is_there(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with serving(saying(OK), path=path) as url:
        assert Connection(Address(url, str(path)), {}).request("GET", "/").status == 200


def test_a_socket_file_that_a_dead_hub_left_is_no_obstacle(tmp_path: Path) -> None:
    path = tmp_path / "s"
    with socket.socket(socket.AF_UNIX) as dead:
        dead.bind(str(path))
    with serving(saying(OK)) as url:
        assert Connection(Address(url, str(path)), {}).request("GET", "/").status == 200
