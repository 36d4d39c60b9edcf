"""What this session adds to the trails of messages: how near they came to its model, as far as that is known."""

import asyncio
from collections.abc import Callable, Iterable
from typing import Final

from peerline.client.async_hub import AsyncHub, Reported
from peerline.client.records import Message
from peerline.core.errors import PeerlineError
from peerline.tools.inbox import Seen

FINISH_S: Final = 1.0


class Reports:
    """Each is sent once, beside the work; one that is lost costs nothing else. `silence` says why an arrival may not
    be noticed, or None."""

    def __init__(self, client: str, silence: Callable[[], str | None]) -> None:
        self.hub: AsyncHub | None = None
        self._client, self._silence = client, silence
        self._read = Seen()
        self._running: set[asyncio.Task[None]] = set()

    def read(self, requests: Iterable[Message]) -> None:
        """The model has been given their texts."""
        for message in requests:
            if self._read.add(message.id):
                self.tell(message.id, "read", self._client)

    def arrived(self, message_id: str) -> None:
        """A request, or the end of one of ours, is here; nothing shows that the model will notice."""
        if (reason := self._silence()) is not None:
            self.tell(message_id, "not announced", f"mcp:{self._client}", reason)

    async def finish(self) -> None:
        """Let what is under way arrive, for a moment at most."""
        if self._running:
            await asyncio.wait(self._running, timeout=FINISH_S)

    def tell(self, message_id: str, fact: Reported, adapter: str, reason: str | None = None) -> None:
        """Put a fact into a message's trail; `reason` says why it was not announced."""
        if self.hub is None:
            return
        task = asyncio.create_task(_send(self.hub, message_id, fact, adapter, reason))
        self._running.add(task)
        task.add_done_callback(self._running.discard)


async def _send(hub: AsyncHub, message_id: str, fact: Reported, adapter: str, reason: str | None) -> None:
    try:
        await hub.report(message_id, fact, adapter=adapter, reason=reason)
    except PeerlineError:
        pass  # an older hub, or one that is away
