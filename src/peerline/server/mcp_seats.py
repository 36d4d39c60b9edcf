"""The agents that are connected through `/mcp`: each has the tools of `peerline.tools`, over the hub as its own client.

A name in a project is one agent here, however many connections state it (decision 28). A request is taken when the
agent reads its inbox, not when it arrives: nothing holds a connection to the agent that could carry it further.
"""

import asyncio
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import PurePosixPath
from typing import Final

from peerline.client.async_hub import AsyncHub
from peerline.client.records import Registered
from peerline.client.surroundings import Surroundings
from peerline.core.access import digest
from peerline.core.errors import DuplicateAgentName, Invalid, PeerlineError, TooMany, Unproven
from peerline.core.ids import AgentId
from peerline.core.limits import LEASE_NAME
from peerline.core.text import lower
from peerline.hub.agents import Agents
from peerline.hub.wakeups import Wakeups
from peerline.server.exchange import Application
from peerline.server.inside import URL, Inside
from peerline.server.mcp_http import Wanted
from peerline.tools import troubles
from peerline.tools.claims import KEPT_EVERY_S, Claims
from peerline.tools.desk import Desk
from peerline.tools.inbox import Inbox, Outcomes
from peerline.tools.reports import Reports
from peerline.tools.results import Result, error
from peerline.tools.waits import Progress
from peerline.wire.tools import Tool

IDLE_S: Final = 300.0  # an agent that asked nothing for so long, and has no stream open, is offline
LOOK_S: Final = 15.0
SEATS: Final = 1_000
MONITORED: Final = ("claude-code",)  # clients with a tool that opens a WebSocket and is woken by what it says
CALLS: Final = 64


class Seat:
    """One agent. `client` is the short name of the program that it was registered by."""

    def __init__(self, wanted: Wanted, client: str, app: Application, wakeups: Wakeups, world: Surroundings) -> None:
        self._wanted, self._client, self._wakeups, self._world = wanted, client, wakeups, world
        self._inside = Inside(app, wanted.address)
        self._hub: AsyncHub | None = None
        self._registered: Registered | None = None
        self._starting = asyncio.Lock()
        self._used = world.now()
        self._kept = world.now()
        self.calls = self.streams = 0
        self._reports = Reports(client, lambda: None)
        self._claims = Claims(self._claim_name, lambda line: None)
        self._desk = Desk(
            hub=self._here,
            told=self._told,
            waker=self._wake if client in MONITORED else None,
            takes_as=f"mcp-http:{client}",
            patient=False,  # clients give up on one HTTP request after a minute, whatever it tells them
            inbox=Inbox(),
            outcomes=Outcomes(lambda message: None),
            reports=self._reports,
            claims=self._claims,
            world=world,
        )

    async def call(self, wanted: Wanted, tool: Tool, arguments: object, progress: Progress | None) -> Result:
        if self.calls >= CALLS:
            return error(f"{CALLS} calls of this agent are running; wait for one to end")
        self.calls += 1
        try:
            if wanted.token != self._wanted.token:
                await self._change_token(wanted)
            return await self._desk.call(tool, arguments, progress)
        finally:
            self.calls -= 1
            self.touch()

    @property
    def idle_s(self) -> float:
        return 0.0 if self.calls or self.streams else self._world.now() - self._used

    @property
    def away(self) -> bool:
        """Whether it has left the hub, and nothing of it is going on."""
        return self._hub is None and not self.calls and not self.streams

    @property
    def agent(self) -> Registered | None:
        """As it was registered last; None: never."""
        return self._registered

    def touch(self) -> None:
        self._used = self._world.now()

    async def keep_claims(self) -> None:
        if self._hub is not None and self._claims and self._world.now() - self._kept >= KEPT_EVERY_S:
            self._kept = self._world.now()
            try:
                await self._claims.keep(self._hub)
            except PeerlineError:
                pass  # the next time

    async def leave(self) -> None:
        """Go offline; the next call comes back with the same key."""
        async with self._starting:
            hub, self._hub = self._hub, None
            if hub is not None:
                await self._claims.leave(hub)
                await hub.stop()

    async def _here(self) -> AsyncHub:
        async with self._starting:
            if self._hub is None:
                wanted = self._wanted
                hub = AsyncHub(
                    URL,
                    project=wanted.project,
                    name=wanted.name,
                    token=wanted.token,
                    purpose=wanted.purpose or f"{self._client} over /mcp",
                    model=self._client,
                    host=wanted.address,
                    resume=None if self._registered is None else self._registered.agent_key,
                    minimal=True,
                    tries=1,
                    on_registered=self._keep,
                    surroundings=Surroundings(
                        now=self._world.now,
                        sleep=self._world.sleep,
                        chance=self._world.chance,
                        entropy=self._world.entropy,
                        dial=self._inside,
                    ),
                )
                await hub.start()
                self._hub = self._reports.hub = hub
            return self._hub

    async def _change_token(self, wanted: Wanted) -> None:
        """The one shown now was proved; the earlier one may have been replaced."""
        async with self._starting:
            self._wanted = wanted
            hub, self._hub = self._hub, None
        if hub is not None:
            await hub.stop()

    def _keep(self, registered: Registered) -> None:
        self._registered = registered

    async def _wake(self, hub: AsyncHub) -> dict[str, str] | None:
        """The URL that its own monitor tool can open; nothing while one is open."""
        if self._wakeups.feeds(AgentId(hub.agent.id)):
            return None
        try:
            ticket = await hub.watch_ticket()
        except PeerlineError:
            return None
        # Inside, the hub does not know by which name its caller reached it.
        url = f"ws://{self._wanted.host}{ticket.url[ticket.url.index('/v1/') :]}"
        return {
            "ws": url,
            "next": "to be woken by requests and replies, give this to your Monitor tool as ws.url within a minute; "
            "arm it anew with a new one from kxm_inbox when it ends",
        }

    def _told(self, refusal: PeerlineError) -> str:
        if isinstance(refusal, DuplicateAgentName):
            return f"{refusal.text}. End that session, or choose another name: agent=NAME in this server's URL."
        if isinstance(refusal, Unproven):
            return (
                "the hub rejected the project token of this connection: set the right one as its Authorization "
                "header. Go on without KXM and tell your user."
            )
        return troubles.told(refusal, self._wanted.project)

    def _claim_name(self, path: str) -> str:
        """As the sessions beside the files name it (`cli.hot_claim`), if the project has its repository's name."""
        pure = PurePosixPath(path.replace("\\", "/"))
        name = f"file:{self._wanted.project}/{pure}"
        if pure.is_absolute() or ".." in pure.parts or path.startswith("~") or not name.isprintable():
            raise Invalid("over HTTP the path of a file starts at the top of its repository")
        if len(name) > LEASE_NAME:
            raise Invalid(f"the path is longer than {LEASE_NAME} characters")
        return name


class Seats:
    """All of them; `app` is the hub itself."""

    def __init__(self, app: Application, agents: Agents, wakeups: Wakeups, world: Surroundings | None = None) -> None:
        self._app, self._agents, self._wakeups, self._world = app, agents, wakeups, world or Surroundings()
        self._seats: dict[tuple[str, str], Seat] = {}
        self._looking: asyncio.Task[None] | None = None

    async def call(
        self, wanted: Wanted, client: str, tool: Tool, arguments: object, progress: Progress | None
    ) -> Result:
        """The tool's result for that agent, which is registered by its first call."""
        if not wanted.name:
            return error("this connection has no agent name: put ?agent=NAME at the end of this server's URL")
        try:
            seat = self._of(wanted, client)
        except PeerlineError as refusal:
            return error(refusal.text)
        return await seat.call(wanted, tool, arguments, progress)

    def agent_id(self, wanted: Wanted) -> str | None:
        """That agent's id, once it is registered."""
        seat = self._seats.get(_place(wanted))
        return None if seat is None or seat.agent is None else seat.agent.agent.id

    @contextmanager
    def streaming(self, wanted: Wanted) -> Iterator[None]:
        """While a stream of that agent's is open it stays online."""
        seat = self._seats.get(_place(wanted))
        if seat is None:
            yield
            return
        seat.streams += 1
        try:
            yield
        finally:
            seat.streams -= 1
            seat.touch()

    async def close(self) -> None:
        """The hub stops: the names become free, so that they can be taken at once when it is back."""
        if self._looking is not None:
            self._looking.cancel()
        for seat in self._seats.values():
            if (known := seat.agent) is not None:
                proven = self._agents.proven(known.agent.id, known.agent_key)
                if proven is not None:
                    await self._agents.unregister(proven.member.agent, digest(known.agent_key))
            await seat.leave()

    def _of(self, wanted: Wanted, client: str) -> Seat:
        place = _place(wanted)
        seat = self._seats.get(place)
        if seat is None:
            if len(self._seats) >= SEATS and not self._forget_one():
                raise TooMany(f"{SEATS} agents are connected through /mcp already; come back later")
            seat = self._seats[place] = Seat(wanted, client, self._app, self._wakeups, self._world)
            if self._looking is None:
                self._looking = asyncio.create_task(self._look())
        return seat

    def _forget_one(self) -> bool:
        """The one that has been away longest; False if none is. Its name is free, and comes back as the same agent."""
        away = {place: seat for place, seat in self._seats.items() if seat.away}
        if not away:
            return False
        del self._seats[max(away, key=lambda place: away[place].idle_s)]
        return True

    async def sweep(self) -> None:
        """Let who is silent for long go offline, and hold the claims of the others."""
        for seat in list(self._seats.values()):
            if seat.idle_s >= IDLE_S:
                await seat.leave()
            else:
                await seat.keep_claims()

    async def _look(self) -> None:
        while True:
            await self._world.sleep(LOOK_S)
            await self.sweep()


def _place(wanted: Wanted) -> tuple[str, str]:
    return wanted.project, lower(wanted.name)
