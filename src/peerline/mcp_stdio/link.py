"""This session's link to the hub: it registers, listens, and finds back for as long as the session lives."""

import asyncio
from collections.abc import AsyncIterator, Callable
from contextlib import aclosing, asynccontextmanager
from typing import Final

from peerline.client.async_hub import AsyncHub
from peerline.client.backoff import pause_s
from peerline.client.records import Registered
from peerline.client.refusals import Unreachable
from peerline.client.surroundings import Surroundings
from peerline.core.errors import DuplicateAgentName, InvalidAgentIdentity, PeerlineError, Unproven
from peerline.mcp_stdio.deliveries import Deliveries
from peerline.mcp_stdio.identity import Identity
from peerline.mcp_stdio.place import NoToken, Place
from peerline.mcp_stdio.seat import SeatedIdentity
from peerline.mcp_stdio.threads import aside

FIRST_S: Final = 0.2
LONGEST_S: Final = 5.0
WITHOUT_TOKEN_S: Final = 20.0
CALL_S: Final = 12.0


class Link:
    """`fallback` is the name taken when the session's own is somebody else's; `say` is told of it once."""

    def __init__(
        self,
        place: Place,
        client: str,
        deliveries: Deliveries,
        *,
        fallback: str,
        say: Callable[[str], None],
        on_registered: Callable[[Registered], None],
        world: Surroundings | None = None,
    ) -> None:
        self._place, self._client, self._deliveries = place, client, deliveries
        self._fallback, self._say, self._on_registered = fallback, say, on_registered
        self._world = world or Surroundings()
        own: Identity | SeatedIdentity = Identity(place, place.name)
        if place.seat is not None:
            own = SeatedIdentity(place.seat, place.name)
        self._own = self._identity = own
        self._hub: AsyncHub | None = None
        self._trouble: PeerlineError = Unreachable("the hub has not answered yet")
        self._wanted = asyncio.Event()
        self._news = asyncio.Event()

    async def hub(self) -> AsyncHub:
        """The hub, once this session is registered and has read its inbox; waits for the try that is under way.

        Raises:
            PeerlineError: that try failed.
        """
        if self._hub is None:
            self._wanted.set()
            try:
                async with asyncio.timeout(CALL_S):
                    await self._news.wait()
            except TimeoutError:
                pass
        if self._hub is None:
            raise self._trouble
        return self._hub

    @property
    def here(self) -> AsyncHub | None:
        """The hub, if this session is registered now."""
        return self._hub

    async def run(self) -> None:
        """Be on the hub until cancelled; then leave it."""
        failures = 0
        try:
            while True:
                try:
                    async with self._registered() as hub:
                        failures = 0
                        await self._stay(hub)
                except PeerlineError as error:
                    self._trouble = error
                self._tell()
                longest = WITHOUT_TOKEN_S if isinstance(self._trouble, (NoToken, Unproven)) else LONGEST_S
                pause = pause_s(failures, self._world.chance(), FIRST_S, longest)
                failures += 1
                await self._paused(pause)
        finally:
            self._identity.release()
            if self._identity is not self._own:
                self._identity.forget()

    async def _stay(self, hub: AsyncHub) -> None:
        """Listen first, then read what is there: what ends in between is known to have ended."""
        listening = asyncio.ensure_future(self._listen(hub))
        try:
            await self._deliveries.read_back(hub)
            self._hub = hub
            self._tell()
            await listening
        finally:
            self._hub = None
            listening.cancel()
            await asyncio.wait([listening])

    async def _listen(self, hub: AsyncHub) -> None:
        async with aclosing(hub.events()) as events:
            async for event in events:
                await self._deliveries.take(hub, event)

    @asynccontextmanager
    async def _registered(self) -> AsyncIterator[AsyncHub]:
        token = await aside(self._place.token)
        try:
            hub = await self._enter(token)
        except InvalidAgentIdentity:
            raise
        except Unproven:
            hub = await self._enter(await aside(self._place.renewed_token))
        try:
            yield hub
        finally:
            await hub.stop()

    async def _enter(self, token: str) -> AsyncHub:
        if self._place.seat is not None:
            if not self._own.keys():  # without its key we would take the name from the worker
                raise Unreachable("the worker of this session is not on the hub yet")
            return await self._enter_as(self._own, token)
        if self._identity is self._own:
            # A name that is locked is another live session's, even while the hub does not see that one.
            if self._own.hold():
                try:
                    return await self._enter_as(self._own, token)
                except DuplicateAgentName:
                    self._own.release()
            self._say(
                f"kxm: agent name {self._own.name} is already active in project {self._place.project}; "
                f"this session registers as {self._fallback}"
            )
            self._identity = Identity(self._place, self._fallback)
            self._identity.hold()
        return await self._enter_as(self._identity, token)

    async def _enter_as(self, identity: Identity | SeatedIdentity, token: str) -> AsyncHub:
        """With each key that may be the name's, then without one."""
        keys: list[str | None] = [*identity.keys()]
        while True:
            key = keys.pop(0) if keys else None
            try:
                hub = await self._start(identity, token, key)
            except DuplicateAgentName:
                if not keys:
                    raise
            else:
                return hub

    async def _start(self, identity: Identity | SeatedIdentity, token: str, key: str | None) -> AsyncHub:
        def registered(answer: Registered) -> None:
            identity.keep(answer)
            self._on_registered(answer)

        addresses = self._place.addresses()
        while True:
            hub = AsyncHub(
                addresses.pop(0),
                project=self._place.project,
                name=identity.name,
                token=token,
                purpose=self._place.purpose,
                model=self._client,
                branch=self._place.branch,
                resume=key,
                minimal=True,
                on_registered=registered,
                surroundings=self._world,
            )
            try:
                await hub.start()
            except Unreachable:
                if not addresses:
                    raise
            else:
                return hub

    def _tell(self) -> None:
        """Whoever waits for the outcome of a try hears it now; later callers wait for the next one."""
        self._news.set()
        self._news = asyncio.Event()

    async def _paused(self, seconds: float) -> None:
        """Wait, or less when a tool call wants the hub now."""
        self._wanted.clear()
        waking = asyncio.ensure_future(self._wanted.wait())
        sleeping = asyncio.ensure_future(self._world.sleep(seconds))
        try:
            await asyncio.wait([waking, sleeping], return_when=asyncio.FIRST_COMPLETED)
        finally:
            waking.cancel()
            sleeping.cancel()
