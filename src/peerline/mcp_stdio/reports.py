"""What this session adds to the trails of messages: that its model has been given a request's text."""

import asyncio
from collections.abc import Iterable
from typing import Final

from peerline.client.async_hub import AsyncHub
from peerline.client.records import Message
from peerline.core.errors import PeerlineError
from peerline.mcp_stdio.inbox import Seen

FINISH_S: Final = 1.0


class Reports:
    """Each is sent once, beside the call; an observation that is lost costs nothing else."""

    def __init__(self, adapter: str) -> None:
        self._adapter = adapter
        self._read = Seen()
        self._running: set[asyncio.Task[None]] = set()

    def read(self, hub: AsyncHub, requests: Iterable[Message]) -> None:
        new = [message.id for message in requests if self._read.add(message.id)]
        if new:
            task = asyncio.create_task(self._send(hub, new))
            self._running.add(task)
            task.add_done_callback(self._running.discard)

    async def finish(self) -> None:
        """Let what is under way arrive, for a moment at most."""
        if self._running:
            await asyncio.wait(self._running, timeout=FINISH_S)

    async def _send(self, hub: AsyncHub, message_ids: list[str]) -> None:
        for message_id in message_ids:
            try:
                await hub.report(message_id, "read", adapter=self._adapter)
            except PeerlineError:
                continue
