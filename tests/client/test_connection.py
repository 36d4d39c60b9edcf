"""HTTP as proxies and other implementations write it, over a real socket."""

import json
from collections.abc import AsyncIterator

import pytest

from peerline.client.address import address
from peerline.client.connection import HEAD_BYTES, Unanswered, dial, request_bytes
from peerline.client.refusals import InvalidAnswer
from tests.client.scripted_hub import Raw, Reply, ScriptedHub, agent

pytestmark = pytest.mark.anyio

BODY = json.dumps({"agents": [agent()]}).encode()
HEAD = b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\n"


@pytest.fixture
async def server() -> AsyncIterator[ScriptedHub]:
    async with ScriptedHub() as hub:
        yield hub


def get(server: ScriptedHub) -> bytes:
    return request_bytes(address(server.url), "GET", "/x", {}, None)


@pytest.mark.parametrize(
    "pieces",
    [
        (HEAD + b"content-length: %d\r\n\r\n" % len(BODY), BODY[:5], BODY[5:]),
        (
            HEAD + b"transfer-encoding: chunked\r\n\r\n",
            b"3\r\n" + BODY[:3] + b"\r\n",
            b"%x\r\n" % len(BODY[3:]),
            BODY[3:],
            b"\r\n0\r\n\r\n",
        ),
        (HEAD + b"\r\n", BODY),
        (HEAD + b"connection: close\r\n\r\n" + BODY,),
        (b"HTTP/1.1 100 Continue\r\n\r\n", HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY),
        tuple(bytes([byte]) for byte in HEAD + b"content-length: %d\r\n\r\n" % len(BODY) + BODY),
    ],
)
async def test_an_answer_is_read_however_it_is_framed(server: ScriptedHub, pieces: tuple[bytes, ...]) -> None:
    server.script("GET /x", Raw(pieces))
    line = await dial(address(server.url))
    answer = await line.exchange(get(server))
    assert (answer.status, answer.body) == (200, BODY)
    line.close()


@pytest.mark.parametrize(
    "pieces",
    [
        (),
        (b"HTTP/1.1 200",),
        (HEAD + b"content-length: 100\r\n\r\n", BODY[:5]),
        (HEAD + b"transfer-encoding: chunked\r\n\r\n", b"3\r\nabc\r\n"),
    ],
)
async def test_an_answer_that_breaks_off_is_no_answer(server: ScriptedHub, pieces: tuple[bytes, ...]) -> None:
    server.script("GET /x", Raw(pieces))
    line = await dial(address(server.url))
    with pytest.raises(Unanswered):
        await line.exchange(get(server))
    assert not line.reusable


@pytest.mark.parametrize(
    "pieces",
    [
        (b"220 mail.example ESMTP\r\n",),
        (b"HTTP/1.1 200 OK\r\ncontent-length: -1\r\n\r\n",),
        (b"HTTP/1.1 200 OK\r\n" + b"x: " + b"y" * HEAD_BYTES + b"\r\n", b"z: 1\r\n"),
        (b"HTTP/1.1 101 Switching Protocols\r\nupgrade: x\r\nconnection: upgrade\r\n\r\n",),
    ],
)
async def test_what_is_no_answer_of_a_hub_is_said(server: ScriptedHub, pieces: tuple[bytes, ...]) -> None:
    server.script("GET /x", Raw(pieces, stay=True))
    line = await dial(address(server.url))
    with pytest.raises(InvalidAnswer):
        await line.exchange(get(server))
    line.close()


async def test_a_connection_is_used_again_only_while_both_sides_keep_it(server: ScriptedHub) -> None:
    server.script("GET /x", Reply(200, {}), Reply(200, {}, {"connection": "close"}))
    line = await dial(address(server.url))
    await line.exchange(get(server))
    assert line.reusable
    await line.exchange(get(server))
    assert not line.reusable
    line.close()
