"""The daemon's socket, over a real one (spec/network.md 6.1)."""

import asyncio
import json
import stat
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

import pytest

from peerline.core.errors import NotFound
from peerline.network.daemon.client import DaemonLink, Unreachable
from peerline.network.daemon.protocol import Refusal
from peerline.network.daemon.server import SocketPathTooLong, SocketServer, Taken


class NoRoom(NotFound):
    code = "NO_ROOM"


async def answer(method: str, params: dict[str, Any], network: str | None) -> Any:
    if method == "refuse":
        raise NoRoom("no such room: x", nextAction="komnet room list")
    if method == "break":
        raise RuntimeError("secret words")
    return {"method": method, "params": params, "network": network}


@pytest.fixture
async def server(tmp_path: Path) -> AsyncIterator[SocketServer]:
    logged: list[str] = []
    server = SocketServer(tmp_path / "d.sock", answer, logged.append)
    await server.start()
    server.logged = logged  # type: ignore[attr-defined]
    yield server
    await server.stop()


def link(tmp_path: Path) -> DaemonLink:
    return DaemonLink(tmp_path / "d.sock")


async def aside(work: Callable[[], Any]) -> Any:
    return await asyncio.to_thread(work)


@pytest.mark.anyio
async def test_a_request_gets_its_result(server: SocketServer, tmp_path: Path) -> None:
    client = link(tmp_path)
    found = await aside(lambda: client.call("read", {"room": "a"}, "net"))
    assert found == {"method": "read", "params": {"room": "a"}, "network": "net"}
    client.close()


@pytest.mark.anyio
async def test_a_refusal_keeps_its_code_and_what_to_do_next(server: SocketServer, tmp_path: Path) -> None:
    client = link(tmp_path)
    with pytest.raises(Refusal) as caught:
        await aside(lambda: client.call("refuse", {}))
    assert (caught.value.code, caught.value.text) == ("NO_ROOM", "no such room: x")
    assert caught.value.extras == {"nextAction": "komnet room list"}
    client.close()


@pytest.mark.anyio
async def test_a_fault_of_ours_tells_no_words_and_ends_nothing(server: SocketServer, tmp_path: Path) -> None:
    client = link(tmp_path)
    with pytest.raises(Refusal, match="its log says more"):
        await aside(lambda: client.call("break", {}))
    assert "secret" not in "".join(server.logged)  # type: ignore[attr-defined]
    assert await aside(lambda: client.call("ping", {}))
    client.close()


@pytest.mark.parametrize(
    "params",
    [{"authorKind": "human"}, {"input": {"authorKind": "human"}}, {"asHuman": True}, {"input": {"verified": True}}],
)
@pytest.mark.anyio
async def test_a_client_of_the_socket_cannot_say_that_it_is_a_person(
    server: SocketServer, tmp_path: Path, params: dict[str, Any]
) -> None:
    client = link(tmp_path)
    with pytest.raises(Refusal) as caught:
        await aside(lambda: client.call("send", params))
    assert caught.value.code == "FORBIDDEN"
    client.close()


@pytest.mark.parametrize(
    "line", [b"{", b"[]", b'{"id":1}', b'{"method":"x","params":[]}', b'{"method":"x","network":7}', b"[" * 9_000]
)
@pytest.mark.anyio
async def test_a_line_that_is_no_request_is_refused_and_the_connection_goes_on(
    server: SocketServer, tmp_path: Path, line: bytes
) -> None:
    reader, writer = await asyncio.open_unix_connection(str(tmp_path / "d.sock"))
    writer.write(line + b"\n" + b'{"id":2,"method":"ping"}\n')
    answers = [json.loads(await reader.readline()) for _ in range(2)]
    by_id = {one["id"]: one["ok"] for one in answers}
    assert by_id == {0: False, 2: True}
    writer.close()


@pytest.mark.anyio
async def test_the_socket_is_for_its_user_only(server: SocketServer, tmp_path: Path) -> None:
    assert stat.S_IMODE((tmp_path / "d.sock").stat().st_mode) == 0o600


@pytest.mark.anyio
async def test_a_second_daemon_is_refused_while_one_answers(server: SocketServer, tmp_path: Path) -> None:
    with pytest.raises(Taken):
        await SocketServer(tmp_path / "d.sock", answer, print).start()


@pytest.mark.anyio
async def test_a_socket_that_nobody_serves_any_more_is_taken_over(tmp_path: Path) -> None:
    import socket

    left = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM)
    left.bind(str(tmp_path / "d.sock"))
    left.close()
    server = SocketServer(tmp_path / "d.sock", answer, print)
    await server.start()
    client = link(tmp_path)
    assert await aside(lambda: client.call("ping", {}))
    client.close()
    await server.stop()


@pytest.mark.anyio
async def test_a_subscription_is_told_what_comes_in_its_network(server: SocketServer, tmp_path: Path) -> None:
    client = link(tmp_path)
    assert await aside(lambda: client.subscribe({}, "mine")) == {"subscribed": True}
    server.tell("other", "delivered", ids=["X"])
    server.tell("mine", "delivered", ids=["A"])
    told = await aside(client.next_line)
    assert told == {"id": 1, "event": "delivered", "network": "mine", "ids": ["A"]}
    await server.stop()
    with pytest.raises(Unreachable):
        await aside(client.next_line)


def test_without_a_daemon_the_client_says_so_at_once(tmp_path: Path) -> None:
    with pytest.raises(Unreachable):
        DaemonLink(tmp_path / "d.sock")


@pytest.mark.anyio
async def test_a_home_too_deep_for_a_socket_is_told_with_what_to_do(tmp_path: Path) -> None:
    deep = tmp_path / ("x" * 100)
    deep.mkdir()
    with pytest.raises(SocketPathTooLong, match="set KOMNET_HOME to a shorter folder"):
        await SocketServer(deep / "daemon.sock", answer, lambda line: None).start()
