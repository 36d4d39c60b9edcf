"""The application as an ASGI app: mounts beside it, its life span, and servers that are not uvicorn."""

import asyncio
import json
from typing import Any

from peerline.server.asgi import Asgi, Message, Receive, Scope, Send
from tests.server.echo_server import EchoApp


def run(asgi: Asgi, scope: Scope, *messages: Message) -> list[Message]:
    """Call `asgi` as a server would and return what it sent."""
    inbox = list(messages)
    sent: list[Message] = []

    async def receive() -> Message:
        return inbox.pop(0) if inbox else {"type": "http.disconnect"}

    async def send(message: Message) -> None:
        sent.append(message)

    asyncio.run(_call(asgi, scope, receive, send))
    return sent


async def _call(asgi: Asgi, scope: Scope, receive: Receive, send: Send) -> None:
    await asgi(scope, receive, send)


def http(path: str, method: str = "GET", *headers: tuple[bytes, bytes], **more: Any) -> Scope:
    return {
        "type": "http",
        "http_version": "1.1",
        "method": method,
        "path": path,
        "raw_path": path.encode(),
        "query_string": b"",
        "headers": [(b"host", b"h"), *headers],
        "client": ("192.0.2.9", 1),
        "server": ("127.0.0.1", 1),
        **more,
    }


async def mounted(scope: Scope, receive: Receive, send: Send) -> None:
    await send({"type": "http.response.start", "status": 299, "headers": []})
    await send({"type": "http.response.body", "body": b""})


def status(sent: list[Message]) -> int:
    return int(sent[0]["status"])


def test_a_mounted_app_gets_its_prefix_and_nothing_else() -> None:
    asgi = Asgi(EchoApp(), mounts={"/mcp": mounted})
    assert status(run(asgi, http("/mcp"))) == 299
    assert status(run(asgi, http("/mcp/x"))) == 299
    assert status(run(asgi, http("/mcpx"))) == 404
    assert status(run(asgi, http("/echo"))) == 200


def test_the_life_span_is_answered() -> None:
    sent = run(Asgi(EchoApp()), {"type": "lifespan"}, {"type": "lifespan.startup"}, {"type": "lifespan.shutdown"})
    assert [message["type"] for message in sent] == ["lifespan.startup.complete", "lifespan.shutdown.complete"]


def test_the_peer_is_the_client_of_the_scope() -> None:
    sent = run(Asgi(EchoApp()), http("/echo", "GET", (b"x-forwarded-for", b"127.0.0.1")))
    assert json.loads(sent[1]["body"])["peer"] == ["192.0.2.9", False, None]


def test_a_body_in_pieces_is_put_together() -> None:
    sent = run(
        Asgi(EchoApp()),
        http("/echo", "POST", (b"content-length", b"4")),
        {"type": "http.request", "body": b"ab", "more_body": True},
        {"type": "http.request", "body": b"cd", "more_body": False},
    )
    assert json.loads(sent[1]["body"])["body"] == "abcd"


def test_a_caller_that_leaves_in_the_middle_of_its_body_is_not_asked_about() -> None:
    app = EchoApp()
    sent = run(
        Asgi(app),
        http("/echo", "POST", (b"content-length", b"4")),
        {"type": "http.request", "body": b"ab", "more_body": True},
        {"type": "http.disconnect"},
    )
    assert sent == []
    assert app.events.empty()


def test_a_server_that_gives_no_raw_path_is_understood() -> None:
    sent = run(Asgi(EchoApp()), http("/echo/x", raw_path=None))
    assert json.loads(sent[1]["body"])["path"] == "/echo/x"


def test_framing_is_judged_here_too() -> None:
    asgi = Asgi(EchoApp())
    for headers in ([(b"host", b"h"), (b"host", b"h")], [], [(b"host", b"h"), (b"x", b"a" * 20_000)]):
        sent = run(asgi, http("/echo", headers=headers))
        assert status(sent) == 400
        assert (b"connection", b"close") in sent[0]["headers"]
