"""NATS JetStream: one file stream, a subject an agent, pushed to a durable consumer an agent.

One connection an agent. The recipient's acknowledgement (waited for) and its reply go out together, as natural as in
the other drivers; the sender's consumer needs no acknowledgements.
"""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Any

from nats.aio.client import Client
from nats.aio.msg import Msg
from nats.js.api import AckPolicy, ConsumerConfig, StorageType
from nats.js.client import JetStreamContext
from nats.js.errors import NotFoundError

from bench.window import Window, repeat_all


class Pairs:
    def __init__(self, address: dict[str, Any], pairs: int, body: int) -> None:
        self._url = f"nats://127.0.0.1:{address['port']}"
        self._pairs = range(pairs)
        self._body = b"x" * body
        self._clients: list[Client] = []
        self._senders: list[JetStreamContext] = []
        self._replies: list[asyncio.Queue[bytes]] = []

    async def open(self) -> None:
        jets = await self._connect()
        try:
            await jets.delete_stream("agents")
        except NotFoundError:
            pass
        await jets.add_stream(name="agents", subjects=["request.*", "reply.*"], storage=StorageType.FILE)
        for pair in self._pairs:
            sender, recipient = await self._connect(), await self._connect()
            self._senders.append(sender)
            self._replies.append(asyncio.Queue())
            await sender.subscribe(
                f"reply.{pair}", cb=self._replied(pair), config=ConsumerConfig(ack_policy=AckPolicy.NONE)
            )
            await recipient.subscribe(
                f"request.{pair}", durable=f"recipient{pair}", manual_ack=True, cb=self._answer(recipient, pair)
            )

    async def _connect(self) -> JetStreamContext:
        client = Client()
        await client.connect(self._url)
        self._clients.append(client)
        return client.jetstream(timeout=20)

    def _replied(self, pair: int) -> Callable[[Msg], Awaitable[None]]:
        async def replied(message: Msg) -> None:
            self._replies[pair].put_nowait(message.data)

        return replied

    def _answer(self, recipient: JetStreamContext, pair: int) -> Callable[[Msg], Awaitable[None]]:
        async def answer(message: Msg) -> None:
            await asyncio.gather(message.ack_sync(timeout=20), recipient.publish(f"reply.{pair}", self._body))

        return answer

    async def load(self, window: Window) -> None:
        await repeat_all(window, [self._round_trip(pair) for pair in self._pairs])

    def _round_trip(self, pair: int) -> Callable[[], Awaitable[None]]:
        async def round_trip() -> None:
            await self._senders[pair].publish(f"request.{pair}", self._body)
            reply = await asyncio.wait_for(self._replies[pair].get(), 20)
            assert len(reply) == len(self._body)

        return round_trip

    async def close(self) -> None:
        for client in self._clients:
            await client.close()
