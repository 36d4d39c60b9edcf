"""The daemon's socket: requests of local processes and their subscriptions (spec/network.md 6.1)."""

import asyncio
import os
import socket
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import Any, Final

from peerline.core.errors import Invalid, PeerlineError
from peerline.network.daemon.protocol import (
    LINE_AT_MOST,
    REFUSED_MEMBERS,
    MalformedLine,
    event_line,
    read_request,
    refusal_line,
    result_line,
)

OPEN_AT_ONCE: Final = 64
WAITING_EVENTS: Final = 1_000

Answer = Callable[[str, dict[str, Any], str | None], Awaitable[Any]]


class Taken(Exception):
    """Another daemon serves this home already."""


class SocketPathTooLong(Invalid):
    """The home lies so deep that the system takes no socket there."""

    code = "SOCKET_PATH_TOO_LONG"


class Subscription:
    """What one client gets told until it goes: a bounded queue, so that one that does not read costs nothing more."""

    def __init__(self, network: str | None) -> None:
        self.network = network
        self._events: asyncio.Queue[tuple[str, dict[str, Any]] | None] = asyncio.Queue(WAITING_EVENTS)

    def tell(self, network: str, event: str, facts: dict[str, Any]) -> None:
        if self.network not in (None, network):
            return
        try:
            self._events.put_nowait((event, {"network": network, **facts}))
        except asyncio.QueueFull:
            self.end()  # the client connects anew and reads the inbox, which has everything

    def end(self) -> None:
        while self._events.full():
            self._events.get_nowait()
        self._events.put_nowait(None)

    async def next(self) -> tuple[str, dict[str, Any]] | None:
        return await self._events.get()


class SocketServer:
    """`answer` does the work of a request; `subscribed` and `gone` are told of subscriptions and closed connections."""

    def __init__(self, path: Path, answer: Answer, log: Callable[[str], None]) -> None:
        self._path, self._answer, self._log = path, answer, log
        self._subscriptions: set[Subscription] = set()
        self._tasks: set[asyncio.Task[None]] = set()
        self._server: asyncio.Server | None = None

    async def start(self) -> None:
        """Listen, readable by this user only.

        Raises:
            Taken: somebody answers on the socket.
            SocketPathTooLong
            OSError
        """
        if _answers(self._path):
            raise Taken(str(self._path))
        self._path.unlink(missing_ok=True)
        before = os.umask(0o177)
        try:
            self._server = await asyncio.start_unix_server(self._serve, str(self._path), limit=LINE_AT_MOST)
        except OSError as error:
            if error.errno is not None:
                raise
            size = len(os.fsencode(self._path))
            raise SocketPathTooLong(
                f"the daemon's socket would be {self._path}, and {size} bytes are too many for a socket's path (107 on "
                "Linux, 103 on macOS); set KOMNET_HOME to a shorter folder. Without a daemon all commands work there"
            ) from None
        finally:
            os.umask(before)

    def tell(self, network: str, event: str, **facts: Any) -> None:
        """To every subscription that listens for the network."""
        for subscription in tuple(self._subscriptions):
            subscription.tell(network, event, facts)

    async def stop(self) -> None:
        if self._server is not None:
            self._server.close()
        for subscription in tuple(self._subscriptions):
            subscription.end()
        for task in tuple(self._tasks):
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)
        self._path.unlink(missing_ok=True)

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        task = asyncio.current_task()
        assert task is not None
        self._tasks.add(task)
        pending: set[asyncio.Task[None]] = set()
        sessions: set[str] = set()
        try:
            while True:
                try:
                    line = await reader.readuntil(b"\n")
                except asyncio.LimitOverrunError:
                    writer.write(refusal_line(0, "the line is longer than 8 MiB"))
                    break
                except (asyncio.IncompleteReadError, ConnectionError, asyncio.CancelledError):
                    break  # the client left, or the daemon stops
                if len(pending) >= OPEN_AT_ONCE:
                    await asyncio.wait(pending, return_when=asyncio.FIRST_COMPLETED)
                work = asyncio.create_task(self._one(line, writer, sessions))
                pending.add(work)
                work.add_done_callback(pending.discard)
        finally:
            for work in tuple(pending):
                work.cancel()
            writer.close()
            for session in sessions:  # an agent's session is there as long as its connection
                await self._answer("sessionClose", {"session": session}, None)
            self._tasks.discard(task)

    async def _one(self, line: bytes, writer: asyncio.StreamWriter, sessions: set[str]) -> None:
        try:
            request = read_request(line)
        except MalformedLine as error:
            writer.write(refusal_line(0, str(error)))
            return
        request_id = request.get("id")
        params: dict[str, Any] = request.get("params") or {}
        try:
            if refused := _refused_member(params):
                raise _NotYours(f"{refused} can't be said by a client of the socket")
            if request["method"] == "subscribe":
                await self._subscribe(request_id, request.get("network"), writer)
                return
            result = await self._answer(request["method"], params, request.get("network"))
            if request["method"] == "sessionOpen":
                sessions.add(result["session"])
            out = result_line(request_id, result)
        except PeerlineError as error:
            out = refusal_line(request_id, error.text, error.code, error.extras)
        except asyncio.CancelledError:
            raise
        except Exception as error:
            self._log(f"a request of {request['method']} failed: {type(error).__name__}")
            out = refusal_line(request_id, "the daemon could not do it; its log says more", "INTERNAL")
        try:
            writer.write(out)
            await writer.drain()
        except ConnectionError:
            pass  # the client is gone; what it asked for is done

    async def _subscribe(self, request_id: Any, network: str | None, writer: asyncio.StreamWriter) -> None:
        subscription = Subscription(network)
        self._subscriptions.add(subscription)
        try:
            writer.write(result_line(request_id, {"subscribed": True}))
            await writer.drain()
            while (told := await subscription.next()) is not None:
                writer.write(event_line(request_id, told[0], **told[1]))
                await writer.drain()
        except ConnectionError:
            pass
        finally:
            self._subscriptions.discard(subscription)


class _NotYours(PeerlineError):
    code = "FORBIDDEN"


def _refused_member(params: dict[str, Any]) -> str | None:
    inner = params.get("input")
    members = {*params, *(inner if isinstance(inner, dict) else ())}
    return next((name for name in REFUSED_MEMBERS if name in members), None)


def _answers(path: Path) -> bool:
    with socket.socket(socket.AF_UNIX, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        try:
            probe.connect(str(path))
        except OSError:
            return False
        return True
