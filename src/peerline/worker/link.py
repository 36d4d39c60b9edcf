"""The worker's agent on the hub: registered for as long as the worker lives, whatever its harness and the hub do."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import aclosing, asynccontextmanager
from functools import partial
from typing import Final, Protocol

from peerline.client.async_hub import AsyncHub
from peerline.client.backoff import pause_s
from peerline.client.events import Event
from peerline.client.records import Registered
from peerline.client.refusals import Unreachable
from peerline.client.surroundings import Surroundings
from peerline.core.errors import DuplicateAgentName, InvalidAgentIdentity, PeerlineError, Unproven
from peerline.worker.place import NameTaken, Place

FIRST_S: Final = 0.2
LONGEST_S: Final = 5.0


class Listener(Protocol):
    async def connected(self, hub: AsyncHub) -> None:
        """The agent listens; what is in its inbox can be read now."""
        ...

    def took(self, event: Event) -> None: ...

    def disconnected(self) -> None: ...


class Link:
    def __init__(
        self,
        place: Place,
        *,
        model: str,
        on_registered: Callable[[Registered], None],
        trouble: Callable[[PeerlineError], None],
        world: Surroundings,
    ) -> None:
        self._place, self._model = place, model
        self._on_registered, self._trouble, self._world = on_registered, trouble, world
        self._was_there = False

    async def run(self, listener: Listener) -> None:
        """Be on the hub until cancelled; then leave it.

        Raises:
            NameTaken: from the start another session has the name, and none of our keys is one of its.
        """
        failures = 0
        while True:
            try:
                async with self._registered() as hub:
                    failures, self._was_there = 0, True
                    await self._stay(hub, listener)
            except PeerlineError as error:
                if isinstance(error, NameTaken) and not self._was_there:
                    raise
                if not failures:
                    self._trouble(error)
            await self._world.sleep(pause_s(failures, self._world.chance(), FIRST_S, LONGEST_S))
            failures += 1

    async def _stay(self, hub: AsyncHub, listener: Listener) -> None:
        """Listen first, then read what is there: what ends in between is known to have ended."""
        listening = asyncio.ensure_future(self._listen(hub, listener))
        try:
            await listener.connected(hub)
            await listening
        finally:
            listener.disconnected()
            listening.cancel()
            await asyncio.wait([listening])

    async def _listen(self, hub: AsyncHub, listener: Listener) -> None:
        async with aclosing(hub.events()) as events:
            async for event in events:
                listener.took(event)

    @asynccontextmanager
    async def _registered(self) -> AsyncIterator[AsyncHub]:
        try:
            hub = await self._enter(await asyncio.to_thread(self._place.token))
        except InvalidAgentIdentity:
            raise
        except Unproven:
            hub = await self._enter(await asyncio.to_thread(self._place.renewed_token))
        try:
            yield hub
        finally:
            await hub.stop()

    async def _enter(self, token: str) -> AsyncHub:
        """With each key that may be the name's, then without one."""
        identity = self._place.identity
        keys: list[str | None] = [*identity.keys(), None]
        while True:
            try:
                return await self._first(partial(self._start, token, keys.pop(0)))
            except DuplicateAgentName:
                if not keys:
                    name, project = self._place.name, self._place.project
                    raise NameTaken(
                        f"agent name {name} is already active in project {project}; "
                        "end that session, or start the worker with another --name"
                    ) from None

    async def _first(self, start: Callable[[str], Awaitable[AsyncHub]]) -> AsyncHub:
        """By the first address at which a hub answers."""
        addresses = self._place.addresses()
        while True:
            try:
                return await start(addresses.pop(0))
            except Unreachable:
                if not addresses:
                    raise

    async def _start(self, token: str, key: str | None, url: str) -> AsyncHub:
        def registered(answer: Registered) -> None:
            self._place.identity.keep(answer)
            self._on_registered(answer)

        place = self._place
        hub = AsyncHub(
            url,
            project=place.project,
            name=place.name,
            token=token,
            purpose=place.purpose,
            model=self._model,
            branch=place.branch,
            resume=key,
            minimal=True,
            on_registered=registered,
            surroundings=self._world,
        )
        await hub.start()
        return hub
