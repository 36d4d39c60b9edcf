"""From the hub's events to the inbox and the channel: each request is taken, then told, once."""

from collections.abc import Callable
from typing import Any, Final

from peerline.client.async_hub import AsyncHub
from peerline.client.backoff import pause_s
from peerline.client.events import Event
from peerline.client.records import Message
from peerline.client.refusals import OutcomeUnknown
from peerline.client.stream import PASSING
from peerline.client.surroundings import Surroundings
from peerline.core.errors import Conflict, Forbidden, NotFound
from peerline.core.fence import NONCE_BYTES
from peerline.mcp_stdio.channel import request_params
from peerline.tools.inbox import Inbox, Outcomes, Seen
from peerline.tools.reports import Reports

LONGEST_S: Final = 5.0


class Deliveries:
    """`push` puts a channel notification on its way; `adapter` names this client in a message's trail.

    With `takes` False somebody else takes the requests, and only the ends of our own are of interest."""

    def __init__(
        self,
        inbox: Inbox,
        outcomes: Outcomes,
        reports: Reports,
        push: Callable[[dict[str, Any]], None],
        *,
        adapter: str,
        takes: bool = True,
        world: Surroundings | None = None,
    ) -> None:
        self._takes = takes
        self._inbox, self._outcomes, self._reports = inbox, outcomes, reports
        self._push, self._adapter = push, adapter
        self._world = world or Surroundings()
        self._announced = Seen()

    async def read_back(self, hub: AsyncHub) -> None:
        """What an earlier session under this name took and did not answer is ours. Queued ones come by the stream."""
        self._reports.hub = hub
        if not self._takes:
            return
        for message in await hub.inbox():
            if message.status == "delivered":
                self._admit(message)

    async def take(self, hub: AsyncHub, event: Event) -> None:
        message = event.message
        if message is None:
            return
        if event.type == "message" and self._takes:
            taken = await self._acknowledged(hub, message)
            if taken is not None:
                self._admit(taken)
        elif event.type in ("reply", "cancelled", "expired"):
            self._inbox.drop(message.id)
            if message.sender == hub.agent.id and event.type != "cancelled":
                self._outcomes.ended(message)

    async def _acknowledged(self, hub: AsyncHub, message: Message) -> Message | None:
        """The request, if this session took it. The stream does not offer it again: what fails is tried until done."""
        tries, unsure = 0, False
        while True:
            try:
                answer = await hub.acknowledge(message.id, adapter=self._adapter)
                return answer.of(message) if answer.first or unsure else None
            except (NotFound, Conflict, Forbidden):
                return None
            except OutcomeUnknown:
                unsure = True  # it may have been the first; nobody else acknowledges under this name's lock
            except PASSING:
                pass
            await self._world.sleep(pause_s(tries, self._world.chance(), longest_s=LONGEST_S))
            tries += 1

    def _admit(self, message: Message) -> None:
        if not self._inbox.admit(message) or not self._announced.add(message.id):
            return
        try:
            self._push(request_params(message, self._world.entropy(NONCE_BYTES)))
        except OSError:
            self._announced.discard(message.id)
            raise
        self._reports.arrived(message.id)
