"""`kxm watch`: a line for each request that comes to an agent session, and for each reply to it. Never a body.

A client's monitor wakes its session by each line, so each says which tool reads the rest. An event is only a hint:
what is printed is what the hub has open and unread, less what the session was told before (`hot_record`).
"""

import asyncio
import os
import signal
from collections.abc import AsyncIterator, Callable, Mapping
from contextlib import aclosing, asynccontextmanager
from pathlib import Path
from typing import Any, Final
from urllib.parse import quote

from peerline.cli.hot_identity import Caller
from peerline.cli.hot_output import Failure, Output, usage, write
from peerline.cli.hot_record import BRIEFED, Sessions, plain
from peerline.cli.mcp import options
from peerline.client import stream
from peerline.client.address import address
from peerline.client.answers import MessageList
from peerline.client.records import Agent, Message
from peerline.client.refusals import Unreachable
from peerline.client.requests import Requests, decoded
from peerline.client.surroundings import Surroundings
from peerline.core.announcement import lines, reply_line, request_line
from peerline.core.errors import PeerlineError
from peerline.core.pace import Pace
from peerline.mcp_stdio.lock import take
from peerline.mcp_stdio.parent import ParentWatch
from peerline.mcp_stdio.pipes import Reader
from peerline.mcp_stdio.threads import aside

HELP: Final = """Usage: kxm watch [--session ID] [--confirm]

Print a line for each request that comes to this agent session, and for each reply to a request of its own: ids and
names only. Ends with the process that started it. ID: the client's id of the session (CLAUDE_CODE_SESSION_ID).
With --confirm an empty line ends what comes together, and a line on standard input has to say what became of it: ok, or
why not. Only then it counts as told.
"""
LOOK_S: Final = 0.5
REPORTED: Final = 20
CALL_S: Final = 5.0
TAKEN: Final = "ok"
AGAIN_S: Final = 10.0
ADAPTERS: Final = {"claude-code": "claude-code monitor", "opencode": "opencode plugin"}


def run(argv: list[str]) -> int:
    """Watch until the parent ends; the exit code."""
    env = dict(os.environ)
    output = Output(env, command="watch")
    if "--help" in argv or "-h" in argv:
        return output.text(HELP.rstrip())
    confirm = "--confirm" in argv
    try:
        session_id = options(argv, ("--session",), flags=("--confirm",)).get("--session") or env.get(
            "CLAUDE_CODE_SESSION_ID", ""
        )
        if not session_id:
            raise usage("--session is required outside of an agent session")
        watch = Watch(env, session_id, confirm=confirm)
    except Failure as failure:
        return output.failure(failure)
    asyncio.run(watch.run())
    os._exit(0)  # a thread may still be asking for a token


class Seat:
    """The session of the `kxm mcp` that wrote the record, borrowed: presence stays that process's own."""

    def __init__(self, record: Mapping[str, Any], token: str) -> None:
        self.agent = Agent(id=record["agentId"], name=record["name"], project=record["project"])
        self._key, self._token = record["agentKey"], token

    def agent_key(self) -> str:
        key: str = self._key
        return key

    def headers(self) -> dict[str, str]:
        return {
            "authorization": f"Bearer {self._token}",
            "x-kxm-agent-id": self.agent.id,
            "x-kxm-agent-key": self.agent_key(),
        }

    async def find_back(self, key: str) -> None:
        raise Unreachable("the hub does not know this session any more")  # its `kxm mcp` will write a new record


class Mark:
    """A locked file that tells the session's `kxm mcp` that somebody watches; what cannot be written tells nothing."""

    def __init__(self, folder: str, session_id: str) -> None:
        self._path = Path(folder) / f"{session_id}.watch"
        self._descriptor: int | None = None
        if not plain(session_id):
            return
        try:
            self._path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            self._descriptor = os.open(self._path, os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        except OSError:
            return
        take(self._descriptor)

    def remove(self) -> None:
        if self._descriptor is not None:
            self._path.unlink(missing_ok=True)
            os.close(self._descriptor)


class Outcomes:
    """What our reader says of the lines it was given: a line each on standard input."""

    def __init__(self, gone: Callable[[], None]) -> None:
        self._gone, self._rest = gone, b""
        self._said: asyncio.Queue[str] = asyncio.Queue()
        Reader(0, self._got)

    async def next(self) -> str:
        return await self._said.get()

    def _got(self, chunk: bytes) -> None:
        if not chunk:
            self._gone()
        *lines, self._rest = (self._rest + chunk).split(b"\n")
        for line in lines:
            self._said.put_nowait(line.decode("utf-8", "replace").strip())


class Watch:
    """`confirm`: what was printed counts as told when our reader says so."""

    def __init__(
        self, env: dict[str, str], session_id: str, world: Surroundings | None = None, *, confirm: bool = False
    ) -> None:
        self._env, self._session_id, self._confirm = env, session_id, confirm
        self._outcomes: Outcomes | None = None
        self._world = world or Surroundings()
        self._sessions = Sessions(env)
        self._hint = asyncio.Event()
        self._pace = Pace(self._world.now)

    async def run(self) -> None:
        """Watch the session under each record that its `kxm mcp` writes, until our parent or our reader is gone."""
        end = asyncio.Event()
        loop = asyncio.get_running_loop()
        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end.set)
        parent = ParentWatch(end.set)
        self._outcomes = Outcomes(end.set) if self._confirm else None
        mark = Mark(self._sessions.folder, self._session_id)
        watching = asyncio.ensure_future(self._for_ever())
        ending = asyncio.ensure_future(end.wait())
        await asyncio.wait([watching, ending], return_when=asyncio.FIRST_COMPLETED)
        parent.close()
        mark.remove()
        for task in (watching, ending):
            task.cancel()
        await asyncio.wait([watching, ending])
        if not watching.cancelled() and not isinstance(watching.exception(), (BrokenPipeError, type(None))):
            watching.result()

    async def _for_ever(self) -> None:
        while True:
            record = self._record()
            if record is not None:
                try:
                    await self._with(record)
                except PeerlineError:
                    pass  # no token or no hub now; both may come
            await self._world.sleep(LOOK_S)

    def _record(self) -> dict[str, Any] | None:
        found = self._sessions.record(self._session_id)
        return found if found is not None and _alive(found.get("pid")) else None

    async def _with(self, record: dict[str, Any]) -> None:
        """Look whenever something happened, as long as the record is the session's."""
        caller = Caller(self._env, {"--server": record["url"], "--project": record["project"]})
        seat = Seat(record, await aside(lambda: _token(caller)))
        requests = Requests(
            address(f"unix:{caller.address.unix}" if caller.address.unix else record["url"]), self._world, tries=2
        )
        self._hint = asyncio.Event()
        self._hint.set()
        async with _beside(self._listen(seat, requests)) as listening:
            while not listening.done() and self._record() == record:
                try:
                    async with asyncio.timeout(LOOK_S * 4):
                        await self._hint.wait()
                except TimeoutError:
                    continue
                if not self._confirm:  # a reader that confirms takes its time itself
                    await self._world.sleep(self._pace.wait_s())
                self._hint.clear()
                await self._look(seat, requests, ADAPTERS.get(str(record.get("client")), "kxm watch"))
                await self._world.sleep(LOOK_S)
        requests.close()

    async def _listen(self, seat: Seat, requests: Requests) -> None:
        def gap(error: PeerlineError | None) -> None:
            if error is None:
                self._hint.set()

        events = stream.events(seat, requests, self._world, notes=False, resume=None, idle_s=stream.IDLE_S, on_gap=gap)
        async with aclosing(events):
            async for event in events:
                if event.type in ("message", "reply"):
                    self._hint.set()

    async def _look(self, seat: Seat, requests: Requests, adapter: str) -> None:
        """Print what is new. A hub that does not answer now is looked at again with its next event."""

        async def asked(path: str) -> tuple[Message, ...]:
            answer = await requests.call("GET", path, headers=seat.headers(), timeout_s=CALL_S, repeatable=True)
            return decoded(answer, MessageList).messages

        try:
            waiting = await asked(f"/v1/agents/{quote(seat.agent.id, safe='')}/inbox?peek=1")
            replies = await asked("/v1/messages?state=unread&limit=20")
        except PeerlineError:
            self._hint.set()
            return
        told = {one for one, how in self._sessions.told(self._session_id).items() if how != BRIEFED}
        asked_of_us = [one for one in waiting if one.id not in told]
        answered = [one for one in replies if one.id not in told]
        new = [request_line(one.id, one.sender_name, soon=one.delivery == "steer") for one in asked_of_us]
        new += [reply_line(one.id, one.recipient_name) for one in answered]
        if not new:
            return
        ids = [one.id for one in [*asked_of_us, *answered]]
        write(1, "".join(line + "\n" for line in [*lines(new), *([""] if self._confirm else [])]))
        said = await self._outcomes.next() if self._outcomes else TAKEN
        if said != TAKEN:
            await self._report(seat, requests, ids, {"fact": "not announced", "adapter": adapter, "reason": said[:200]})
            await self._world.sleep(AGAIN_S)
            self._hint.set()
            return
        self._pace.spend()
        self._sessions.tell(self._session_id, ids)
        await self._report(seat, requests, ids, {"fact": "announced", "adapter": adapter})

    async def _report(self, seat: Seat, requests: Requests, ids: list[str], body: dict[str, Any]) -> None:
        for message_id in ids[:REPORTED]:
            path = f"/v1/messages/{quote(message_id, safe='')}/facts"
            try:
                await requests.call("POST", path, body, headers=seat.headers(), timeout_s=CALL_S, repeatable=False)
            except PeerlineError:
                pass  # a hub that does not keep such facts, or is away: the line is out all the same


def _token(caller: Caller) -> str:
    try:
        return caller.token()
    except Failure as failure:
        raise Unreachable(failure.detail) from None


def _alive(pid: object) -> bool:
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True


@asynccontextmanager
async def _beside(work: Any) -> AsyncIterator["asyncio.Task[None]"]:
    task: asyncio.Task[None] = asyncio.ensure_future(work)
    try:
        yield task
    finally:
        task.cancel()
        await asyncio.wait([task])
        if not task.cancelled():
            task.exception()  # a lost identity: the next record has the new one
