"""`/mcp`: the hub's tools over streamable HTTP, for clients that can name a URL and a header (docs/guides/mcp-http.md).

Who asks is proved here, by the project's token; the protocol is the official SDK's (`server.mcp_server`), loaded by the
first request.
"""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from importlib import import_module
from typing import Any, Final

from peerline.core import limits
from peerline.core.access import Access
from peerline.core.agent import check_name
from peerline.core.errors import Invalid, McpNotInstalled, Unproven
from peerline.core.rate import RateWindow
from peerline.core.text import utf16_length
from peerline.database.later import Later
from peerline.hub.agents import Agents
from peerline.hub.clock import HubClock
from peerline.hub.wakeups import Wakeups
from peerline.server.auth import Auth, bearer
from peerline.server.exchange import Answer, Application, Request, Response
from peerline.server.mounted import Mounted
from peerline.server.query import members
from peerline.server.rates import count
from peerline.server.routes import Call, Proof, Route
from peerline.server.stream import Stream

PATH: Final = "/mcp"
WANTED: Final = "kxm.wanted"  # where a request's scope says who asks
TOOLS: Final = ("core", "all")
MISSING: Final = (
    'this hub has no /mcp: its package mcp is missing. Install it with `pip install "peerline[mcp]"` (or `uv tool '
    'install "peerline[mcp]"`) and start the hub again; `kxm mcp` serves the same tools without it'
)
# In the query of the URL, or as a header of this name.
GIVEN: Final = {
    "project": ("x-kxm-project", limits.PROJECT),
    "agent": ("x-kxm-agent-name", limits.NAME),
    "purpose": ("x-kxm-agent-purpose", limits.PURPOSE),
    "tools": ("x-kxm-tools", 8),
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wanted:
    """Who a request says that its agent is; `token` opens the project. Without a name it can only look."""

    project: str
    token: str | None
    name: str
    purpose: str
    tools: str
    address: str
    host: str


class McpRoutes:
    """`app` is the hub itself, once it is made. `server` makes another server for the SDK to serve than ours; `module`
    is where the SDK is used.
    """

    def __init__(
        self,
        auth: Auth,
        access: Access,
        agents: Agents,
        wakeups: Wakeups,
        rates: RateWindow,
        clock: HubClock,
        oops: Callable[[BaseException], None],
        *,
        server: Callable[[], Any] | None = None,
        module: str = "peerline.server.mcp_server",
    ) -> None:
        self._auth, self._access, self._agents, self._wakeups = auth, access, agents, wakeups
        self._rates, self._clock, self._oops = rates, clock, oops
        self._server, self._module = server, module
        self._tasks: set[asyncio.Task[None]] = set()
        self._serving: asyncio.Task[None] | None = None
        self._loading: asyncio.Future[Any] | None = None
        self._loaded: Any = None
        self.app: Application | None = None

    def routes(self) -> list[Route]:
        return [
            Route(method, PATH, Proof.SELF, self.answer, None, "MCP.", limited=False, described=False)
            for method in ("POST", "GET", "DELETE")
        ]

    def answer(self, call: Call) -> Answer:
        call.request.timing = None  # a stream, a wait, or a tool's own requests, which are timed
        wanted = self._admit(call.request)
        if self._loaded is not None:
            return self._mounted(call.request, wanted)
        outcome: Later[Response | Stream] = Later()
        self._work(self._when_loaded(call.request, wanted, outcome))
        return outcome

    async def close(self) -> None:
        """End every session and leave the hub with every agent."""
        running = [*self._tasks, *([] if self._serving is None else [self._serving])]
        for task in running:
            task.cancel()
        if running:
            await asyncio.wait(running)
        if self._loaded is not None:
            await self._loaded.seats.close()

    def _admit(self, request: Request) -> Wanted:
        """Who asks, proved, and counted. Raises: Unproven, TooMany, Invalid"""
        monotonic = self._clock.monotonic()
        try:
            wanted = self._wanted(request)
        except (Unproven, Invalid):
            count(self._rates, request, request.peer.address, monotonic)
            raise
        # A name alone proves nothing: it has a bucket of its own only once its agent is registered.
        agent = None if self._loaded is None else self._loaded.seats.agent_id(wanted)
        count(self._rates, request, request.peer.address if agent is None else f"mcp:{agent}", monotonic)
        return wanted

    def _wanted(self, request: Request) -> Wanted:
        query = members(request)
        given = {name: query.get(name, request.headers.get(header, "")).strip() for name, (header, _) in GIVEN.items()}
        project, presented = given["project"], bearer(request)
        if not project and presented is not None:
            project = self._access.project_of(presented, self._clock.now()) or ""
        if not project:
            if presented is None or not self._access.admin(presented):
                raise Unproven(
                    "invalid project authentication token", operation="mcp", nextAction="check_project_token"
                )
            raise Invalid("name the project: ?project=NAME in the URL of this server, or the header x-kxm-project")
        self._auth.project(request, project)
        for name, (_, most) in GIVEN.items():
            if utf16_length(given[name]) > most:
                raise Invalid(f"{name} exceeds {most} characters")
        if given["agent"]:
            check_name(given["agent"])
        tools = given["tools"] or "core"
        if tools not in TOOLS:
            raise Invalid("tools must be core or all")
        return Wanted(
            project=project,
            token=_token(request),
            name=given["agent"],
            purpose=given["purpose"],
            tools=tools,
            address=request.peer.address,
            host=request.headers.get("host", "localhost"),
        )

    async def _when_loaded(self, request: Request, wanted: Wanted, outcome: Later[Response | Stream]) -> None:
        try:
            if self._loading is None:
                self._loading = asyncio.ensure_future(self._load())
            await asyncio.shield(self._loading)
            answer = self._mounted(request, wanted)
        except BaseException as error:
            outcome.fail(error)
            if not isinstance(error, Exception):
                raise
            return
        answer.then(lambda done: outcome.fail(done.error) if done.error else outcome.succeed(done.result()))

    def _mounted(self, request: Request, wanted: Wanted) -> Later[Response | Stream]:
        return Mounted(self._loaded.handle, request, {WANTED: wanted}, self._oops).start(self._tasks)

    async def _load(self) -> None:
        """Make the server, once, and let it run. Raises: McpNotInstalled"""
        try:
            # On a thread: half a second of importing must not stand in the way of everybody else.
            module = await asyncio.to_thread(import_module, self._module)
            server = module.McpServer(
                self.app, self._agents, self._wakeups, self._oops, self._server and self._server()
            )
            ready: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            self._serving = asyncio.ensure_future(server.run(lambda: ready.set_result(None)))
            await asyncio.wait([ready, self._serving], return_when=asyncio.FIRST_COMPLETED)
            if not ready.done():
                self._serving.result()
            self._loaded = server
        except ImportError:
            raise McpNotInstalled(MISSING, nextAction="install_peerline_with_mcp") from None
        finally:
            self._loading = None  # what failed is tried again by the next request

    def _work(self, work: Any) -> None:
        task = asyncio.ensure_future(work)
        self._tasks.add(task)
        task.add_done_callback(self._tasks.discard)


def _token(request: Request) -> str | None:
    value = request.headers.get("authorization")
    return value[7:].strip() if value is not None and value[:7].lower() == "bearer " else None
