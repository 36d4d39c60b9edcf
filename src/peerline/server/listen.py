"""Serving an application: sockets, the wheel's turn, and the way to an orderly end."""

import asyncio
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal

from peerline.core.limits import BODY_BYTES
from peerline.server.deadlines import Deadlines, Wheel
from peerline.server.exchange import Application
from peerline.server.patience import Shared
from peerline.server.protocol import Connection
from peerline.server.sockets import BACKLOG, listen_tcp, listen_unix, remove_unix


async def serve(
    app: Application,
    *,
    host: str,
    port: int,
    socket_path: Path | None,
    on_ready: Callable[[int], None],
    stop: asyncio.Event,
    http: Literal["protocol", "asgi"] = "protocol",
    deadlines: Deadlines | None = None,
    body_bytes: int = BODY_BYTES,
    clock: Callable[[], float] = time.monotonic,
    on_wheel: Callable[[Wheel], None] | None = None,
) -> None:
    """Serve until `stop` is set, then take nothing new, finish pending answers for `drain_s`, and end the streams.

    `{port}` in `socket_path` becomes the TCP port, which is known once it is bound. `on_ready` gets that port once both
    sockets take connections. `on_wheel` hands out the wheel of deadlines, which is turned once a second anyway.

    Raises:
        OSError: a socket cannot be had; its text is for the person who started the hub.
    """
    deadlines = deadlines or Deadlines()
    listeners = [listen_tcp(host, port)]
    inode = 0
    try:
        bound = int(listeners[0].getsockname()[1])
        if socket_path is not None:
            socket_path = Path(str(socket_path).replace("{port}", str(bound)))
            listener, inode = listen_unix(socket_path)
            listeners.append(listener)
        if http == "asgi":
            from peerline.server.fallback import serve_asgi  # costs half the start again: only who asks pays

            await serve_asgi(app, listeners, deadlines, body_bytes, lambda: on_ready(bound), stop)
            return
        wheel = Wheel(clock)
        if on_wheel is not None:
            on_wheel(wheel)
        shared = Shared(app, deadlines, wheel, body_bytes)
        loop = asyncio.get_running_loop()
        servers = [
            await loop.create_server(lambda: Connection(shared), sock=listener, backlog=BACKLOG)
            for listener in listeners[:1]
        ] + [
            await loop.create_unix_server(lambda: Connection(shared), sock=listener, backlog=BACKLOG)
            for listener in listeners[1:]
        ]
        turning = _turn(loop, wheel)
        try:
            on_ready(bound)
            await stop.wait()
        finally:
            for server in servers:
                server.close()
            await _drain(shared)
            turning()
    finally:
        for listener in listeners:
            listener.close()
        if socket_path is not None and inode:
            remove_unix(socket_path, inode)


def _turn(loop: asyncio.AbstractEventLoop, wheel: Wheel) -> Callable[[], None]:
    """Turn the wheel once a second until the returned function is called."""
    handle: asyncio.TimerHandle

    def tick() -> None:
        nonlocal handle
        handle = loop.call_later(1, tick)
        wheel.turn()

    handle = loop.call_later(1, tick)

    def stop() -> None:
        handle.cancel()  # the handle of the moment, not the first one

    return stop


async def _drain(shared: Shared) -> None:
    empty = asyncio.Event()
    shared.emptied = empty.set
    for connection in list(shared.connections):
        connection.shutdown()
    if shared.connections:
        try:
            await asyncio.wait_for(empty.wait(), shared.deadlines.drain_s)
        except TimeoutError:
            for connection in list(shared.connections):
                connection.abort()
