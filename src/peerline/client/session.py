"""One agent's session with a hub: who we are, the beat that keeps us online, and finding back after a loss."""

import asyncio
import socket
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Final
from urllib.parse import quote

from peerline.client.connection import Answer
from peerline.client.records import Agent, Registered
from peerline.client.refusals import AlreadyStarted, OutcomeUnknown
from peerline.client.requests import Requests, decoded
from peerline.client.surroundings import Surroundings
from peerline.core.errors import Conflict, DuplicateAgentName, Forbidden, InvalidAgentIdentity, PeerlineError
from peerline.core.limits import AGENT_LEASE_MS, CLIENT_TIMEOUT_MS, HEARTBEAT_MS, HOST

HEARTBEAT_S: Final = HEARTBEAT_MS / 1000
REQUEST_S: Final = CLIENT_TIMEOUT_MS / 1000


@dataclass(frozen=True, slots=True, kw_only=True)
class Profile:
    """What an agent tells about itself when it registers."""

    name: str
    project: str
    purpose: str = "Python client"
    model: str | None = None
    host: str | None = None
    branch: str | None = None


class Session:
    """`resume` is a key of this agent from an earlier session; with it a name that is online gets one more session."""

    def __init__(
        self,
        requests: Requests,
        profile: Profile,
        *,
        token: str | None,
        resume: str | None,
        heartbeat_s: float,
        minimal: bool,
        surroundings: Surroundings,
        on_registered: Callable[[Registered], None] | None,
    ) -> None:
        self._requests = requests
        self._profile = profile
        self._token = token
        self._resume = resume
        self._heartbeat_s = heartbeat_s
        self._minimal = minimal
        self._world = surroundings
        self._on_registered = on_registered
        self._registered: Registered | None = None
        self._finding_back = asyncio.Lock()
        self._beat: asyncio.Task[None] | None = None
        self._started = False
        self._may_hold_name_until = float("-inf")

    @property
    def agent(self) -> Agent:
        """Ourselves, as registered last."""
        if self._registered is None:
            raise RuntimeError("the hub client is not started")
        return self._registered.agent

    async def start(self) -> Agent:
        if self._started:
            raise AlreadyStarted("hub client is already started")
        self._started = True
        try:
            await self._register()
        except BaseException:
            self._started = False
            self._requests.close()
            raise
        self._beat = asyncio.create_task(self._keep_online(), name="peerline heartbeat")
        return self.agent

    async def stop(self, *, unregister: bool) -> None:
        """End the beat and leave; may be called again. The hub's silence is no error here."""
        if not self._started:
            return
        self._started = False
        if self._beat is not None:
            self._beat.cancel()
            await asyncio.wait([self._beat])
            self._beat = None
        if unregister and self._registered is not None:
            path = f"/v1/agents/{quote(self.agent.id, safe='')}"
            try:
                await self._requests.call(
                    "DELETE", path, headers=self.headers(), timeout_s=2.0, repeatable=True, tries=1
                )
            except PeerlineError:
                pass  # the lease runs out by itself
        self._requests.close()

    def headers(self) -> dict[str, str]:
        headers = {} if self._token is None else {"authorization": f"Bearer {self._token}"}
        if self._registered is not None:
            headers["x-kxm-agent-id"] = self._registered.agent.id
            headers["x-kxm-agent-key"] = self._registered.agent_key
        if self._minimal:
            headers["prefer"] = "return=minimal"
        return headers

    async def call(
        self,
        method: str,
        path: str,
        payload: Mapping[str, Any] | None = None,
        *,
        repeatable: bool,
        timeout_s: float = REQUEST_S,
        tries: int | None = None,
    ) -> Answer:
        """A call as this agent; if the hub no longer knows us, we register again and ask once more."""
        before = self.agent_key()
        try:
            return await self._requests.call(
                method, path, payload, headers=self.headers(), timeout_s=timeout_s, repeatable=repeatable, tries=tries
            )
        except InvalidAgentIdentity:
            await self.find_back(before)
        return await self._requests.call(
            method, path, payload, headers=self.headers(), timeout_s=timeout_s, repeatable=repeatable, tries=tries
        )

    def agent_key(self) -> str:
        """The key in use now; `find_back` takes it to tell whether somebody else was quicker."""
        if self._registered is None:
            raise RuntimeError("the hub client is not started")
        return self._registered.agent_key

    async def find_back(self, key: str) -> None:
        """Register again, unless that has happened since `key` was used."""
        async with self._finding_back:
            if self._registered is not None and self._registered.agent_key == key:
                await self._register()

    async def _register(self) -> None:
        key = self._registered.agent_key if self._registered else self._resume
        try:
            answer = await self._ask_for_name(key)
        except (InvalidAgentIdentity, Forbidden, Conflict):
            if key is None:
                raise
            answer = await self._ask_for_name(None)  # the hub does not know this key any more
        self._registered = decoded(answer, Registered)
        if self._on_registered is not None:
            self._on_registered(self._registered)

    async def _ask_for_name(self, key: str | None) -> Answer:
        profile = self._profile
        payload = {
            "name": profile.name,
            "project": profile.project,
            "purpose": profile.purpose or None,
            "model": profile.model,
            "host": (profile.host or socket.gethostname())[:HOST] or None,
            "resume": key,
            "branch": profile.branch,
        }
        headers = {} if self._token is None else {"authorization": f"Bearer {self._token}"}
        while True:
            try:
                return await self._requests.call(
                    "POST", "/v1/agents/register", payload, headers=headers, timeout_s=REQUEST_S, repeatable=False
                )
            except OutcomeUnknown:
                # The hub may have us under a key we never saw: that session ends with its lease.
                self._may_hold_name_until = self._world.now() + AGENT_LEASE_MS / 1000 + 5
                raise
            except DuplicateAgentName:
                if key is not None or self._world.now() >= self._may_hold_name_until:
                    raise
                await self._world.sleep(1 + self._world.chance())

    async def _keep_online(self) -> None:
        while True:
            await self._world.sleep(self._heartbeat_s)
            try:
                path = f"/v1/agents/{quote(self.agent.id, safe='')}/heartbeat"
                await self.call("POST", path, {}, repeatable=True, tries=1)
            except PeerlineError:
                continue  # the next beat tries again; a lost session shows in the caller's own calls
