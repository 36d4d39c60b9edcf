"""Redis Streams: a stream an agent, a consumer group where the recipient acknowledges, XREAD where the sender waits.

Two connections an agent, as with the hub: one always blocked in a read, so that it is woken at any time, one for what
it writes. Acknowledgement and reply go out in one pipeline.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from redis.asyncio import Redis

from bench.window import Window, repeat_all


class Pairs:
    def __init__(self, address: dict[str, Any], pairs: int, body: int) -> None:
        self._address = address
        self._body = b"x" * body
        self._pairs = range(pairs)
        self._clients: list[Redis] = []
        self._replies: list[asyncio.Queue[bytes]] = [asyncio.Queue() for _ in range(pairs)]

    async def open(self) -> None:
        for pair in self._pairs:
            client = await self._client()
            await client.delete(f"request:{pair}", f"reply:{pair}")
            await client.xgroup_create(f"request:{pair}", "agents", id="$", mkstream=True)
        self._ends = [[await self._client() for _ in range(4)] for _ in self._pairs]

    async def _client(self) -> Redis:
        client = Redis(host="127.0.0.1", port=self._address["port"], protocol=2, single_connection_client=True)
        self._clients.append(client)
        await client.ping()
        return client

    async def load(self, window: Window) -> None:
        await repeat_all(
            window,
            [self._round_trip(pair) for pair in self._pairs],
            [self._answer(window, pair) for pair in self._pairs] + [self._take(window, pair) for pair in self._pairs],
        )

    def _round_trip(self, pair: int) -> Callable[[], Awaitable[None]]:
        sender, replies, body = self._ends[pair][0], self._replies[pair], self._body
        request = f"request:{pair}"

        async def round_trip() -> None:
            await sender.xadd(request, {b"from": b"sender", b"body": body})
            assert len(await asyncio.wait_for(replies.get(), 20)) == len(body)

        return round_trip

    async def _take(self, window: Window, pair: int) -> None:
        """The sender's subscription."""
        reader, replies, reply, last = self._ends[pair][1], self._replies[pair], f"reply:{pair}", b"0"
        while not window.over:
            if got := await reader.xread({reply: last}, count=1, block=500):
                last, fields = got[0][1][0]
                replies.put_nowait(fields[b"body"])

    async def _answer(self, window: Window, pair: int) -> None:
        writer, reader, body = self._ends[pair][2], self._ends[pair][3], self._body
        request, reply = f"request:{pair}", f"reply:{pair}"
        while not window.over:
            got = await reader.xreadgroup("agents", "recipient", {request: ">"}, count=1, block=500)
            if not got:
                continue
            entry = got[0][1][0][0]
            pipeline = writer.pipeline(transaction=False)
            pipeline.xack(request, "agents", entry)
            pipeline.xadd(reply, {b"to": entry, b"body": body})
            await pipeline.execute()

    async def close(self) -> None:
        for client in self._clients:
            await client.aclose()
