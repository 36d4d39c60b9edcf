"""A TCP proxy that makes a near server a far one: every byte takes half a round trip, a new connection one more."""

import asyncio
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Final

CHUNK: Final = 65_536


class Delayed:
    """Listens on loopback; `port` is where. Not a model of bandwidth or loss."""

    def __init__(self, to_port: int, round_trip_s: float) -> None:
        self._to, self._round_trip_s = to_port, round_trip_s
        self.port = 0

    async def serve(self, ready: threading.Event) -> None:
        """Until `end`."""
        self._loop, self._ended = asyncio.get_running_loop(), asyncio.Event()
        async with await asyncio.start_server(self._accept, "127.0.0.1", 0) as server:
            self.port = server.sockets[0].getsockname()[1]
            ready.set()
            await self._ended.wait()

    def end(self) -> None:
        """From another thread: no connection lives on."""
        self._loop.call_soon_threadsafe(self._ended.set)

    async def _accept(self, near: asyncio.StreamReader, back: asyncio.StreamWriter) -> None:
        opened = asyncio.get_running_loop().time() + self._round_trip_s  # its handshake, which loopback did at once
        try:
            far, out = await asyncio.open_connection("127.0.0.1", self._to)
            async with asyncio.TaskGroup() as both:
                both.create_task(self._carry(near, out, opened))
                both.create_task(self._carry(far, back, opened))
        except* OSError:
            pass  # one end is gone, and with it the connection
        finally:
            back.close()

    async def _carry(self, source: asyncio.StreamReader, sink: asyncio.StreamWriter, opened: float) -> None:
        """Pieces arrive in order, each so long after it was sent, and do not wait for each other's arrival."""
        now = asyncio.get_running_loop().time
        under_way: asyncio.Queue[tuple[float, bytes]] = asyncio.Queue()

        async def read() -> None:
            piece = b"-"
            while piece:
                piece = await source.read(CHUNK)
                under_way.put_nowait((max(now(), opened) + self._round_trip_s / 2, piece))

        async def write() -> None:
            while True:
                due, piece = await under_way.get()
                await asyncio.sleep(due - now())
                if not piece:
                    sink.close()
                    return
                sink.write(piece)
                await sink.drain()

        async with asyncio.TaskGroup() as both:
            both.create_task(read())
            both.create_task(write())


@contextmanager
def delayed(to_port: int, round_trip_s: float) -> Iterator[int]:
    """The port under which a server on this machine is that far away."""
    proxy, ready = Delayed(to_port, round_trip_s), threading.Event()
    thread = threading.Thread(target=lambda: asyncio.run(proxy.serve(ready)), name="delayed", daemon=True)
    thread.start()
    ready.wait()
    try:
        yield proxy.port
    finally:
        proxy.end()
        thread.join()
