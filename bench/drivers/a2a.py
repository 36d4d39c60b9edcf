"""A2A: `SendMessage`, answered when the task has ended; one raw keep-alive connection a pair.

The agent at the other end runs inside the server, as A2A has it: the wire is crossed once, not twice.
"""

import asyncio
import json
from collections.abc import Awaitable, Callable
from typing import Any

from bench.drivers.hub import Requests, post_end
from bench.window import Window, repeat_all


class Pairs:
    def __init__(self, address: dict[str, Any], pairs: int, body: int) -> None:
        self._port: int = address["port"]
        self._pairs = range(pairs)
        self._body = "x" * body
        self._connections: list[Requests] = []
        self._numbers = 0

    async def open(self) -> None:
        for _ in self._pairs:
            _, connection = await asyncio.get_running_loop().create_connection(Requests, "127.0.0.1", self._port)
            self._connections.append(connection)

    async def load(self, window: Window) -> None:
        await repeat_all(window, [self._round_trip(connection) for connection in self._connections])

    def _round_trip(self, connection: Requests) -> Callable[[], Awaitable[None]]:
        head = f"POST / HTTP/1.1\r\nhost: 127.0.0.1:{self._port}\r\nA2A-Version: 1.0\r\n".encode()
        loop = asyncio.get_running_loop()

        async def round_trip() -> None:
            self._numbers += 1
            message = {"messageId": f"m{self._numbers}", "role": "ROLE_USER", "parts": [{"text": self._body}]}
            call = {"jsonrpc": "2.0", "id": 1, "method": "SendMessage", "params": {"message": message}}
            answer: asyncio.Future[tuple[int, bytes]] = loop.create_future()
            connection.send(
                head + post_end(json.dumps(call).encode()), lambda status, body: answer.set_result((status, body))
            )
            status, body = await asyncio.wait_for(answer, 60)
            if status != 200 or b"TASK_STATE_COMPLETED" not in body:
                raise RuntimeError(body[:500].decode(errors="replace"))

        return round_trip

    async def close(self) -> None:
        for connection in self._connections:
            connection.transport.close()
