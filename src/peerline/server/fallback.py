"""uvicorn around the plain ASGI app: slower and heavier than `server.protocol`, and nobody's code but uvicorn's."""

import asyncio
import contextlib
import socket
from collections.abc import Callable, Iterator

import uvicorn
from uvicorn.protocols.http.httptools_impl import HttpToolsProtocol

from peerline.server import framing
from peerline.server.asgi import Asgi
from peerline.server.deadlines import Deadlines
from peerline.server.encoding import encode_response
from peerline.server.exchange import Application
from peerline.server.peers import peer_of


async def serve_asgi(
    app: Application,
    listeners: list[socket.socket],
    deadlines: Deadlines,
    body_bytes: int,
    on_ready: Callable[[], None],
    stop: asyncio.Event,
) -> None:
    """Serve `app` on sockets that already listen, until `stop` is set."""
    asgi = Asgi(app, deadlines=deadlines, body_bytes=body_bytes)

    class Protocol(HttpToolsProtocol):
        """uvicorn's, but its refusals carry the contract's body."""

        def send_400_response(self, msg: str) -> None:
            refused = framing.malformed("the request is not well-formed HTTP/1.1")
            response = app.refuse(refused.status, refused.code, refused.text, peer_of(self.transport))
            self.transport.write(b"".join(encode_response(response, bodiless=False, close=True)))
            self.transport.close()

    class Server(uvicorn.Server):
        @contextlib.contextmanager
        def capture_signals(self) -> Iterator[None]:
            yield  # signals are the command's business: it sets `stop`

        async def startup(self, sockets: list[socket.socket] | None = None) -> None:
            await super().startup(sockets)
            on_ready()

        async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
            asgi.close_streams()
            await super().shutdown(sockets)

    server = Server(
        uvicorn.Config(
            asgi,
            http=Protocol,
            ws="none",
            proxy_headers=False,  # a forwarded header never makes a caller local
            lifespan="on",
            log_config=None,
            access_log=False,
            server_header=False,
            date_header=False,
            timeout_keep_alive=int(deadlines.idle_s),
            timeout_graceful_shutdown=int(deadlines.drain_s),
        )
    )

    async def obey() -> None:
        await stop.wait()
        server.should_exit = True

    obeying = asyncio.ensure_future(obey())
    try:
        await server.serve(listeners)
    finally:
        obeying.cancel()
