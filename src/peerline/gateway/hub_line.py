"""The gateway's agents on the hub of this machine, one for each project, on an event loop of their own."""

import asyncio
import threading
from collections.abc import Callable, Coroutine
from typing import Any, Final, TypeVar

import msgspec

from peerline.client.address import address
from peerline.client.async_hub import AsyncHub
from peerline.client.events import Event
from peerline.client.records import Message, Registered
from peerline.client.requests import Requests, decoded
from peerline.client.surroundings import Surroundings
from peerline.core.agent import GATEWAY
from peerline.core.errors import PeerlineError, Unproven
from peerline.gateway.hub_keys import HubKeys
from peerline.gateway.sessions import Away

LOOK_S: Final = 2.0
LOCAL_S: Final = 5.0
SETTLED_S: Final = 10.0
NEWS_KEPT: Final = 1_000
PURPOSE: Final = "relays between this project and the rooms of the network"

T = TypeVar("T")


class _Projects(msgspec.Struct):
    projects: list[str]


class _Minted(msgspec.Struct):
    token: str


class HubLine:
    """`here` says whether the hub's socket is there and this user's; `ring` is called, on another thread, when
    something came. A hub that comes later is found then; one that goes is waited for."""

    def __init__(
        self,
        url: str,
        keys: HubKeys,
        *,
        here: Callable[[], bool],
        ring: Callable[[], None],
        say: Callable[[str], None],
        surroundings: Surroundings | None = None,
    ) -> None:
        self._url, self._keys, self._here, self._ring, self._say = url, keys, here, ring, say
        self._world = surroundings or Surroundings()
        self._local = Requests(address(url), self._world, tries=1)
        self._hubs: dict[str, AsyncHub] = {}
        self._serving: dict[str, asyncio.Task[None]] = {}
        self._tried: dict[str, asyncio.Event] = {}
        self._said: dict[str, str] = {}
        self._waiting: dict[str, Message] = {}
        self._news: set[str] = set()
        self._settled = threading.Event()
        self._loop = asyncio.new_event_loop()
        self._thread = threading.Thread(target=self._loop.run_forever, name="gateway hub", daemon=True)

    def start(self) -> None:
        """Come to the hub; returns when every project was tried once, or after 10 s."""
        self._thread.start()
        self._keeping = asyncio.run_coroutine_threadsafe(self._keep(), self._loop)
        self._settled.wait(SETTLED_S)

    def stop(self) -> None:
        self._keeping.cancel()
        asyncio.run_coroutine_threadsafe(self._leave(), self._loop).result()
        self._loop.call_soon_threadsafe(self._loop.stop)
        self._thread.join()
        self._loop.close()

    @property
    def projects(self) -> list[str]:
        """Where the gateway is now."""
        return sorted(self._hubs)

    def waiting(self) -> list[Message]:
        """Requests to the gateway that it has not taken, in the order of arrival."""
        return list(self._waiting.values())

    def news_of(self, message_id: str) -> bool:
        """Whether a reply or a cancellation came that was not asked for yet; a hint, which a restart forgets."""
        heard = message_id in self._news
        self._news.discard(message_id)
        return heard

    def settled(self, message_id: str) -> None:
        """It waits no more."""
        self._waiting.pop(message_id, None)

    def call(self, project: str, work: Callable[[AsyncHub], Coroutine[Any, Any, T]]) -> T:
        """Do something as the project's gateway.

        Raises:
            Away: the gateway is not in that project now.
            PeerlineError: what the client raises.
        """
        hub = self._hubs.get(project)
        if hub is None:
            raise Away("no hub runs here" if not self._hubs else f"the gateway is not in project {project[:80]!a} now")
        return asyncio.run_coroutine_threadsafe(work(hub), self._loop).result()

    async def _keep(self) -> None:
        """Be in every project that the hub has."""
        while True:
            try:
                found = await self._listed() if self._here() else []
            except PeerlineError as error:
                found = []
                self._once("", error)
            for project in found:
                if project not in self._serving:
                    self._tried[project] = asyncio.Event()
                    self._serving[project] = asyncio.create_task(self._serve(project))
            if not self._settled.is_set():
                await asyncio.gather(*(tried.wait() for tried in self._tried.values()))
                self._settled.set()
            await self._world.sleep(LOOK_S)

    async def _listed(self) -> list[str]:
        answer = await self._local.call("GET", "/v1/local/projects", headers={}, timeout_s=LOCAL_S, repeatable=True)
        return decoded(answer, _Projects).projects

    async def _mint(self, project: str) -> str:
        answer = await self._local.call(
            "POST",
            "/v1/local/token",
            {"project": project, "scope": "gateway"},
            headers={},
            timeout_s=LOCAL_S,
            repeatable=False,
        )
        token = decoded(answer, _Minted).token
        self._keys.keep(project, token=token)
        return token

    async def _serve(self, project: str) -> None:
        """Be the project's gateway, for ever: what ends is begun anew."""
        while True:
            try:
                await self._be(project)
            except Unproven as error:
                self._keys.forget(project)  # revoked, or the hub's store is another one
                self._once(project, error)
            except PeerlineError as error:
                self._once(project, error)
            finally:
                self._tried[project].set()
            await self._world.sleep(LOOK_S)

    async def _be(self, project: str) -> None:
        hub = AsyncHub(
            self._url,
            project=project,
            name=GATEWAY,
            token=self._keys.token(project) or await self._mint(project),
            purpose=PURPOSE,
            resume=self._keys.key(project),
            on_registered=lambda registered: self._registered(project, registered),
            surroundings=self._world,
        )
        await hub.start()
        self._hubs[project] = hub
        self._said.pop(project, None)
        self._tried[project].set()
        self._ring()
        try:
            async for happened in hub.events():
                self._happened(happened)
        finally:
            self._hubs.pop(project, None)
            await hub.stop()

    def _registered(self, project: str, registered: Registered) -> None:
        self._keys.keep(project, key=registered.agent_key)

    def _happened(self, event: Event) -> None:
        if event.type == "message" and event.message is not None:
            self._waiting[event.message.id] = event.message
        elif event.type == "reply" and event.message_id is not None:
            self._heard(event.message_id)
        elif event.type in ("cancelled", "expired") and event.message_id is not None:
            if event.type == "cancelled":
                self._heard(event.message_id)
            self._waiting.pop(event.message_id, None)
        else:
            return
        self._ring()

    def _heard(self, message_id: str) -> None:
        if len(self._news) >= NEWS_KEPT:
            self._news.clear()
        self._news.add(message_id)

    def _once(self, project: str, error: PeerlineError) -> None:
        """A trouble is said when it begins, not at each try."""
        if self._said.get(project) != error.code:
            self._said[project] = error.code
            self._say(f"relay-degraded hub reason={error.code}")

    async def _leave(self) -> None:
        tasks = list(self._serving.values())
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks)
        self._local.close()
