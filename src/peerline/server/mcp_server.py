"""MCP over streamable HTTP with the official SDK, both eras; alone in importing it, which takes half a second."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any, Final

from mcp import types
from mcp.server.auth.middleware.bearer_auth import AuthenticatedUser
from mcp.server.auth.provider import AccessToken
from mcp.server.context import ServerRequestContext
from mcp.server.lowlevel.server import Server
from mcp.server.streamable_http_manager import StreamableHTTPSessionManager
from mcp.shared.exceptions import MCPError

from peerline import __version__
from peerline.core.fence import visible
from peerline.core.limits import BODY_BYTES
from peerline.hub.agents import Agents
from peerline.hub.wakeups import Wakeups
from peerline.server.asgi import Receive, Scope, Send
from peerline.server.exchange import Application
from peerline.server.mcp_http import WANTED, Wanted
from peerline.server.mcp_seats import Seats
from peerline.tools.introduction import NAME, OVER_HTTP, client_label
from peerline.tools.results import Result, error
from peerline.tools.waits import Progress
from peerline.wire.tools import BY_NAME, SETS

SESSIONS: Final = 1_000
SESSION_IDLE_S: Final = 1_800.0

Context = ServerRequestContext[dict[str, Any], Any]


class McpServer:
    """One for the hub's life. `oops` is told of our faults, for the log; `server` is served instead of our tools."""

    def __init__(
        self,
        app: Application,
        agents: Agents,
        wakeups: Wakeups,
        oops: Callable[[BaseException], None],
        server: Server[Any] | None,
    ) -> None:
        self.seats, self._oops = Seats(app, agents, wakeups), oops
        self._progress: set[asyncio.Task[None]] = set()
        self._manager = StreamableHTTPSessionManager(
            server or self._server(),
            session_idle_timeout=SESSION_IDLE_S,
            max_sessions=SESSIONS,
            max_request_body_size=BODY_BYTES,
        )
        for name in ("mcp", "sse_starlette"):
            # It would speak of sessions and requests on the hub's stderr; faults belong into the hub's log.
            logger = logging.getLogger(name)
            logger.propagate = False
            logger.handlers = [_Faults(oops)]

    async def run(self, ready: Callable[[], None]) -> None:
        """Serve until cancelled."""
        async with self._manager.run():
            ready()
            await asyncio.Event().wait()

    async def handle(self, scope: Scope, receive: Receive, send: Send) -> None:
        """One request; its `scope` says who is asking."""
        wanted: Wanted = scope[WANTED]
        # The SDK gives a session only to whoever opened it.
        who = AccessToken(token="", client_id=f"{wanted.project}/{wanted.name.lower()}", scopes=[])
        scope["user"] = AuthenticatedUser(who)
        if scope["method"] != "GET":
            await self._manager.handle_request(scope, receive, send)
            return
        with self.seats.streaming(wanted):
            await self._manager.handle_request(scope, receive, send)

    def _server(self) -> Server[Any]:
        return Server(
            NAME,
            version=__version__,
            instructions=OVER_HTTP,
            get_tool_input_schema=lambda name: BY_NAME[name].schema if name in BY_NAME else None,
            on_list_tools=self._list,
            on_call_tool=self._call,
        )

    async def _list(self, context: Context, params: types.PaginatedRequestParams | None) -> types.ListToolsResult:
        return types.ListToolsResult(
            tools=[types.Tool.model_validate(tool.as_listed()) for tool in SETS[_wanted(context).tools]]
        )

    async def _call(self, context: Context, params: types.CallToolRequestParams) -> types.CallToolResult:
        wanted = _wanted(context)
        tool = next((tool for tool in SETS[wanted.tools] if tool.name == params.name), None)
        if tool is None:
            return _shown(error(f"unknown tool: {visible(params.name, 80)}"))
        try:
            return _shown(await self.seats.call(wanted, _client(context), tool, params.arguments, self._shows(context)))
        except Exception as fault:
            self._oops(fault)
            raise MCPError(types.INTERNAL_ERROR, "internal error") from None

    def _shows(self, context: Context) -> Progress | None:
        if not context.meta or context.meta.get("progress_token") is None:
            return None

        def show(seconds: float, what: str) -> None:
            task = asyncio.ensure_future(context.session.report_progress(seconds, None, what))
            self._progress.add(task)
            task.add_done_callback(self._shown)

        return show

    def _shown(self, task: "asyncio.Task[None]") -> None:
        self._progress.discard(task)
        if not task.cancelled():
            task.exception()  # nobody is there to see it any more


class _Faults(logging.Handler):
    """Of all that the SDK says only what went wrong, where it did."""

    def __init__(self, oops: Callable[[BaseException], None]) -> None:
        super().__init__(logging.ERROR)
        self._oops = oops

    def emit(self, record: logging.LogRecord) -> None:
        if record.exc_info and record.exc_info[1] is not None:
            self._oops(record.exc_info[1])


def _wanted(context: Context) -> Wanted:
    assert context.request is not None, "over HTTP each message comes with its request"
    wanted: Wanted = context.request.scope[WANTED]
    return wanted


def _client(context: Context) -> str:
    known = context.session.client_params
    return client_label(None if known is None else known.client_info.name)


def _shown(result: Result) -> types.CallToolResult:
    blocks: list[types.ContentBlock] = [types.TextContent(type="text", text=text) for text in result.texts]
    return types.CallToolResult(content=blocks, is_error=result.is_error)
