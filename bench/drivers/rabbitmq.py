"""RabbitMQ: a quorum queue an agent, persistent messages, publisher confirms, one connection and channel an agent.

The confirm of a quorum queue comes after its log is on disk. AMQP answers no acknowledgement, so the recipient's is
sent and not waited for; the sender takes replies without one.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

import aiormq
from aiormq.abc import DeliveredMessage

from bench.window import Window, repeat_all

PERSISTENT = aiormq.spec.Basic.Properties(delivery_mode=2)


class Pairs:
    def __init__(self, address: dict[str, Any], pairs: int, body: int) -> None:
        self._url = f"amqp://guest:guest@127.0.0.1:{address['port']}/"
        self._pairs = range(pairs)
        self._body = b"x" * body
        self._connections: list[Any] = []
        self._senders: list[Any] = []
        self._replies: list[asyncio.Queue[bytes]] = []

    async def open(self) -> None:
        for pair in self._pairs:
            sender, recipient = await self._channel(), await self._channel()
            self._senders.append(sender)
            self._replies.append(asyncio.Queue())
            for channel, queue in ((sender, f"reply{pair}"), (recipient, f"request{pair}")):
                await channel.queue_declare(queue, durable=True, arguments={"x-queue-type": "quorum"})
                await channel.queue_purge(queue)
            await sender.basic_consume(f"reply{pair}", self._replied(pair), no_ack=True)
            await recipient.basic_consume(f"request{pair}", self._answer(recipient, pair))

    async def _channel(self) -> Any:
        connection = await aiormq.connect(self._url)
        self._connections.append(connection)
        return await connection.channel(publisher_confirms=True)

    def _replied(self, pair: int) -> Callable[[DeliveredMessage], Awaitable[None]]:
        async def replied(message: DeliveredMessage) -> None:
            self._replies[pair].put_nowait(message.body)

        return replied

    def _answer(self, recipient: Any, pair: int) -> Callable[[DeliveredMessage], Awaitable[None]]:
        async def answer(message: DeliveredMessage) -> None:
            await recipient.basic_ack(message.delivery_tag, wait=False)
            await recipient.basic_publish(self._body, routing_key=f"reply{pair}", properties=PERSISTENT)

        return answer

    async def load(self, window: Window) -> None:
        await repeat_all(window, [self._round_trip(pair) for pair in self._pairs])

    def _round_trip(self, pair: int) -> Callable[[], Awaitable[None]]:
        async def round_trip() -> None:
            await self._senders[pair].basic_publish(self._body, routing_key=f"request{pair}", properties=PERSISTENT)
            reply = await asyncio.wait_for(self._replies[pair].get(), 20)
            assert len(reply) == len(self._body)

        return round_trip

    async def close(self) -> None:
        for connection in self._connections:
            await connection.close()
