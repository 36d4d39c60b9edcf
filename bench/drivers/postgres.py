"""PostgreSQL: one table, LISTEN/NOTIFY a channel an agent, one connection an agent, one statement a step.

INSERT + notify; UPDATE … RETURNING the body (the acknowledgement); UPDATE + notify (the reply); SELECT the reply.
Three commits, as few as the steps allow.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import asyncpg

from bench.window import Window, repeat_all

SCHEMA = """
    DROP TABLE IF EXISTS message;
    CREATE TABLE message (
        id bigserial PRIMARY KEY, sender int NOT NULL, recipient int NOT NULL, body text NOT NULL,
        status text NOT NULL DEFAULT 'queued', reply text
    );
"""
SEND = """
    WITH sent AS (INSERT INTO message (sender, recipient, body) VALUES ($1, $1, $2) RETURNING id)
    SELECT id, pg_notify('recipient' || $1::text, id::text) FROM sent
"""
ACKNOWLEDGE = "UPDATE message SET status = 'delivered' WHERE id = $1 AND status = 'queued' RETURNING body"
REPLY = """
    WITH replied AS (
        UPDATE message SET status = 'replied', reply = $2 WHERE id = $1 AND status <> 'replied' RETURNING id, sender
    )
    SELECT pg_notify('sender' || sender::text, id::text) FROM replied
"""
READ = "SELECT reply FROM message WHERE id = $1"


class Pairs:
    def __init__(self, address: dict[str, Any], pairs: int, body: int) -> None:
        self._address = address
        self._pairs = range(pairs)
        self._body = "x" * body
        self._connections: list[Any] = []
        self._senders: list[Any] = []
        self._replies: list[asyncio.Queue[int]] = []
        self._requests: list[asyncio.Queue[int]] = []
        self._recipients: list[Any] = []

    async def open(self) -> None:
        await (await self._connect()).execute(SCHEMA)
        for pair in self._pairs:
            sender, recipient = await self._connect(), await self._connect()
            self._senders.append(sender)
            self._recipients.append(recipient)
            self._replies.append(await _listen(sender, f"sender{pair}"))
            self._requests.append(await _listen(recipient, f"recipient{pair}"))

    async def _connect(self) -> Any:
        connection = await asyncpg.connect(
            host="127.0.0.1", port=self._address["port"], user="bench", database="postgres"
        )
        self._connections.append(connection)
        return connection

    async def load(self, window: Window) -> None:
        await repeat_all(
            window,
            [self._round_trip(pair) for pair in self._pairs],
            [self._answer(pair) for pair in self._pairs],
        )

    def _round_trip(self, pair: int) -> Callable[[], Awaitable[None]]:
        sender, replies = self._senders[pair], self._replies[pair]

        async def round_trip() -> None:
            sent = await sender.fetchval(SEND, pair, self._body)
            assert await asyncio.wait_for(replies.get(), 20) == sent
            assert len(await sender.fetchval(READ, sent)) == len(self._body)

        return round_trip

    async def _answer(self, pair: int) -> None:
        recipient, requests = self._recipients[pair], self._requests[pair]
        while True:
            message = await requests.get()
            await recipient.fetchval(ACKNOWLEDGE, message)
            await recipient.fetchval(REPLY, message, self._body)

    async def close(self) -> None:
        for connection in self._connections:
            await connection.close()


async def _listen(connection: Any, channel: str) -> asyncio.Queue[int]:
    queue: asyncio.Queue[int] = asyncio.Queue()
    await connection.add_listener(channel, lambda _connection, _pid, _channel, text: queue.put_nowait(int(text)))
    return queue
