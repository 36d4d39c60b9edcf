"""The MCP server of one agent session over stdin and stdout: calls side by side, and channel events between them."""

import asyncio
import os
import signal
from collections.abc import Callable, Mapping
from typing import Any, Final

from peerline.client.records import Message, Registered
from peerline.client.surroundings import Surroundings
from peerline.core.errors import PeerlineError
from peerline.core.fence import visible
from peerline.core.limits import FALLBACK
from peerline.mcp_stdio import rpc
from peerline.mcp_stdio.channel import METHOD, outcome_params
from peerline.mcp_stdio.codex_queue import CodexQueue
from peerline.mcp_stdio.codex_thread import live
from peerline.mcp_stdio.deliveries import Deliveries
from peerline.mcp_stdio.greeting import Greeted
from peerline.mcp_stdio.handshake import introduce
from peerline.mcp_stdio.link import Link
from peerline.mcp_stdio.parent import ParentWatch
from peerline.mcp_stdio.pipes import Reader, Writer
from peerline.mcp_stdio.place import Place
from peerline.mcp_stdio.record import Record
from peerline.mcp_stdio.seat import SeatedInbox
from peerline.mcp_stdio.silence import silence
from peerline.mcp_stdio.troubles import told
from peerline.tools import results
from peerline.tools.claims import KEPT_EVERY_S, Claims
from peerline.tools.desk import Desk
from peerline.tools.inbox import Inbox, Outcomes
from peerline.tools.reports import Reports
from peerline.tools.waits import Progress
from peerline.wire.tools import Tool

CALLS_AT_ONCE: Final = 64
TO_ANSWER: Final = ("kxm_inbox", "kxm_reply")
CODEX_TURN: Final = "x-codex-turn-metadata"


class Server:
    """`tools` is what this session offers; without any it stays off the hub. `say` gives people a line on stderr."""

    def __init__(
        self,
        place: Place,
        client: str,
        tools: tuple[Tool, ...],
        *,
        stdin: int,
        stdout: int,
        say: Callable[[str], None],
        world: Surroundings | None = None,
    ) -> None:
        self._tools = {tool.name: tool for tool in tools}
        self._place, self._say, self._notice = place, say, ""
        self._stdin, self._stdout = stdin, stdout
        self._lines = rpc.Lines()
        self._calls: dict[str | int, asyncio.Task[None]] = {}
        self._linked: asyncio.Task[None] | None = None
        self._end = asyncio.Event()
        self._writer = Writer(stdout, self._end.set)
        world = world or Surroundings()
        seated = place.seat is not None
        inbox = Inbox() if place.seat is None else SeatedInbox(place.seat)
        # Under a worker the ends of our requests are the worker's to tell.
        outcomes = Outcomes((lambda _: None) if seated else self._tell_outcome)
        self._record = Record(place, client)

        def unheard() -> str | None:
            return silence(client, headless=place.headless, watched=place.watched(self._record.session_id))

        self._reports = Reports(client, unheard)
        self._codex = CodexQueue(self._reports.tell, world=world) if client == "codex" and not seated else None
        link = Link(
            place,
            client,
            Deliveries(
                inbox, outcomes, self._reports, self._push, adapter=f"mcp:{client}", takes=not seated, world=world
            ),
            fallback=f"{place.name[:FALLBACK]}-{os.getpid()}",
            say=self._renamed,
            on_registered=self._registered,
            world=world,
        )
        self._world, self._link = world, link
        self._claims = Claims(place.claim_name, self._renamed)
        self._desk = Desk(
            hub=link.hub,
            told=lambda error: told(error, place),
            denial=place.denial,
            inbox=inbox,
            outcomes=outcomes,
            reports=self._reports,
            claims=self._claims,
            world=world,
        )

    async def run(self, greeted: Greeted) -> None:
        """Serve until the client, its process or a signal ends it; then leave the hub."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, self._end.set)
        parent = ParentWatch(self._end.set)
        for line in greeted.lines:
            self._take(line)
        self._got(greeted.rest, ended=False)
        Reader(self._stdin, self._got)
        keeping = asyncio.create_task(self._keep_claims())
        try:
            await self._end.wait()
        finally:
            parent.close()
            keeping.cancel()
            if self._codex is not None:
                self._codex.stop()
            await self._reports.finish()
            if self._claims and (hub := self._link.here) is not None:
                await self._claims.leave(hub)
            running = [*self._calls.values(), *([self._linked] if self._linked else [])]
            for task in running:
                task.cancel()
            if running:
                await asyncio.wait(running)
            self._record.remove()
            self._writer.close()

    async def _keep_claims(self) -> None:
        """For as long as the session lives; while the hub is away its leases run on, and are asked for anew."""
        while True:
            await self._world.sleep(KEPT_EVERY_S)
            if self._claims and (hub := self._link.here) is not None:
                try:
                    await self._claims.keep(hub)
                except PeerlineError:
                    pass  # the next time

    def _got(self, chunk: bytes, ended: bool = True) -> None:
        if not chunk:
            if ended:
                self._end.set()
            return
        for line in self._lines.feed(chunk):
            self._take(line)

    def _take(self, line: bytes | None) -> None:
        try:
            request = rpc.parse(line)
            answer = None if request is None else self._answer(request)
        except rpc.Malformed as bad:
            answer = rpc.failure(bad.request_id, bad.code, bad.text)
        if answer is not None:
            self._put(answer)

    def _answer(self, request: rpc.Request) -> bytes | None:
        """The answer, if it can be given at once."""
        if (answer := introduce(request, self._notice)) is not None:
            return answer
        if request.id is None:
            self._notified(request)
            return None
        if request.method == "tools/list":
            return rpc.result(request.id, {"tools": [tool.as_listed() for tool in self._tools.values()]})
        if request.method == "tools/call":
            return self._call(request.id, request.params)
        return rpc.failure(request.id, rpc.METHOD_NOT_FOUND, f"method not found: {request.method[:80]}")

    def _notified(self, request: rpc.Request) -> None:
        if request.method == "notifications/initialized":
            if not any(self._place.denial(tool, {}) for tool in TO_ANSWER):
                self._connect()  # else nobody could read or answer what comes
        elif request.method == "notifications/cancelled":
            named = request.params.get("requestId")
            call = self._calls.get(named) if isinstance(named, (str, int)) else None
            if call is not None:
                call.cancel()

    def _connect(self) -> None:
        if self._linked is None and self._tools:
            self._linked = asyncio.create_task(self._link.run())
            self._linked.add_done_callback(self._link_ended)

    def _link_ended(self, link: asyncio.Task[None]) -> None:
        """A fault of ours, if it was not asked to end: the client sees the server go, and may start it again."""
        if link.cancelled() or (error := link.exception()) is None:
            return
        if not isinstance(error, BrokenPipeError):
            self._say(f"kxm: the link to the hub failed: {error!r}")
        self._end.set()

    def _call(self, request_id: str | int, params: dict[str, Any]) -> bytes | None:
        name, meta = params.get("name"), params.get("_meta")
        if not isinstance(name, str):
            raise rpc.Malformed(rpc.INVALID_PARAMS, "name is required", request_id)
        if request_id in self._calls:
            raise rpc.Malformed(rpc.INVALID_REQUEST, "a call with this id is running", request_id)
        if len(self._calls) >= CALLS_AT_ONCE:
            return rpc.failure(request_id, rpc.INTERNAL_ERROR, f"{CALLS_AT_ONCE} calls are running")
        meta = meta if isinstance(meta, dict) else {}
        self._know_session(meta)
        if self._place.denial(name, params.get("arguments")) is None:
            self._connect()
        task = asyncio.create_task(self._run_call(request_id, name, params.get("arguments"), meta.get("progressToken")))
        self._calls[request_id] = task
        task.add_done_callback(lambda _: self._calls.pop(request_id, None))
        return None

    async def _run_call(self, request_id: str | int, name: str, arguments: object, token: object) -> None:
        tool = self._tools.get(name)
        try:
            if tool is None:
                result = results.error(f"unknown tool: {visible(name, 80)}")
            else:
                result = await self._desk.call(tool, arguments, self._progress(token))
        except Exception as error:
            self._say(f"kxm: {name[:80]} failed: {error!r}")
            self._put(rpc.failure(request_id, rpc.INTERNAL_ERROR, f"internal error: {type(error).__name__}"))
            return
        notice, self._notice = self._notice, ""
        texts = result.with_notice(notice).texts
        content = [{"type": "text", "text": text} for text in texts]
        self._put(rpc.result(request_id, {"content": content} | ({"isError": True} if result.is_error else {})))

    def _progress(self, token: object) -> Progress | None:
        if isinstance(token, bool) or not isinstance(token, (str, int)):
            return None

        def show(seconds: float, what: str) -> None:
            params = {"progressToken": token, "progress": seconds, "message": what}
            self._put(rpc.notification("notifications/progress", params))

        return show

    def _know_session(self, meta: Mapping[str, Any]) -> None:
        """Codex names its thread with each call, and only there. A subagent's calls are its session's."""
        turn = meta.get(CODEX_TURN)
        turn = turn if isinstance(turn, dict) else {}
        thread = turn.get("thread_id")
        if isinstance(thread, str) and turn.get("thread_source") != "subagent":
            self._record.session(thread)
            if self._codex is not None:
                self._codex.name(thread, headless=turn.get("turn_trigger") == "exec")

    def _registered(self, registered: Registered) -> None:
        if self._codex is not None and self._record.session_id is None and (thread := live()) is not None:
            self._record.session(thread)
        self._record.registered(registered)

    def _renamed(self, line: str) -> None:
        self._say(line)
        self._notice = line

    def _push(self, params: dict[str, Any]) -> None:
        if self._codex is not None:
            self._codex.put(params["meta"])
            return
        self._writer.put(rpc.notification(METHOD, params))

    def _tell_outcome(self, message: Message) -> None:
        self._push(outcome_params(message))
        self._reports.arrived(message.id)

    def _put(self, line: bytes) -> None:
        try:
            self._writer.put(line)
        except OSError:
            self._end.set()
