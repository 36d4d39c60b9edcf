"""A small server on a real socket that fails as a test tells it to: what a real hub never does on demand."""

import asyncio
import json
from collections import defaultdict, deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from types import TracebackType
from typing import Any, Self

from peerline.client.surroundings import Surroundings

AT = "2026-01-01T10:00:00.000Z"


def agent(name: str = "lead", number: int = 1) -> dict[str, Any]:
    return {
        "id": f"agt_{number}",
        "name": name,
        "project": "demo",
        "purpose": "x",
        "online": True,
        "presence": "online",
    }


def message(status: str = "queued", **members: Any) -> dict[str, Any]:
    sent = {"id": "msg_1", "project": "demo", "from": "agt_1", "fromName": "lead", "to": "agt_2", "toName": "reviewer"}
    times = {"createdAt": AT, "expiresAt": "2026-01-02T10:00:00.000Z"}
    return {
        **sent,
        "content": "c",
        "delivery": "followUp",
        "hops": 0,
        "maxHops": 5,
        "status": status,
        **times,
        **members,
    }


def replied(text: str = "yes") -> dict[str, Any]:
    return message("replied", repliedAt=AT, reply={"content": text, "createdAt": AT})


@dataclass(frozen=True, slots=True)
class Reply:
    status: int
    body: Any = None
    headers: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Raw:
    """These bytes, piece by piece, then the end of the connection; with `stay` the connection stays open and silent."""

    pieces: tuple[bytes, ...] = ()
    stay: bool = False


CLOSE = Raw()
SILENCE = Raw(stay=True)
Step = Reply | Raw


def refuse(status: int, code: str, text: str = "no", **extras: Any) -> Reply:
    return Reply(status, {"error": text, "code": code, "requestId": "req_1", **extras})


def stream(*frames: str, stay: bool = True) -> Raw:
    head = b"HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\nconnection: keep-alive\r\n\r\n"
    return Raw((head, *(frame.encode() for frame in frames)), stay)


def frame(kind: str, data: Mapping[str, Any], token: str | None = None) -> str:
    return f"event: {kind}\n" + (f"id: {token}\n" if token else "") + f"data: {json.dumps(data)}\n\n"


@dataclass(frozen=True, slots=True)
class Asked:
    method: str
    path: str
    headers: Mapping[str, str]
    body: Any

    def __str__(self) -> str:
        return f"{self.method} {self.path}"


class ScriptedHub:
    """`hub.script("POST /v1/messages", step, …)`: the next requests there get these steps, the last one for ever."""

    def __init__(self) -> None:
        self.asked: list[Asked] = []
        self._arrived = asyncio.Condition()
        self._steps: defaultdict[str, deque[Step]] = defaultdict(deque)
        self._registered = 0
        self._writers: set[asyncio.StreamWriter] = set()
        self.connections = 0
        self.left = asyncio.Event()

    def script(self, route: str, *steps: Step) -> None:
        self._steps[route] = deque(steps)

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self._server.sockets[0].getsockname()[1]}"

    def of(self, route: str) -> list[Asked]:
        return [asked for asked in self.asked if str(asked).split("?")[0] == route]

    async def until(self, route: str, count: int = 1) -> list[Asked]:
        async with self._arrived:
            await asyncio.wait_for(self._arrived.wait_for(lambda: len(self.of(route)) >= count), 30)
        return self.of(route)

    async def __aenter__(self) -> Self:
        self.loop = asyncio.get_running_loop()
        self._server = await asyncio.start_server(self._serve, "127.0.0.1", 0)
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._server.close()
        for writer in list(self._writers):
            writer.transport.abort()
        await self._server.wait_closed()

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        self._writers.add(writer)
        self.connections += 1
        try:
            while await self._exchange(reader, writer):
                pass
        except (asyncio.IncompleteReadError, ConnectionError):
            pass
        finally:
            self._writers.discard(writer)
            writer.close()

    async def _exchange(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> bool:
        head = (await reader.readuntil(b"\r\n\r\n")).decode().split("\r\n")
        method, path, _ = head[0].split(" ")
        headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in head[1:] if line)}
        data = await reader.readexactly(int(headers.get("content-length", "0")))
        async with self._arrived:
            self.asked.append(Asked(method, path, headers, json.loads(data) if data else None))
            self._arrived.notify_all()
        step = self._step(f"{method} {path.split('?')[0]}")
        if isinstance(step, Raw):
            for piece in step.pieces:
                writer.write(piece)
                await writer.drain()
            if step.stay:
                try:
                    await reader.read()
                finally:
                    self.left.set()  # the client closed a connection that was to stay open
            return False
        body = (
            b"" if step.body is None else step.body if isinstance(step.body, bytes) else json.dumps(step.body).encode()
        )
        lines = [f"HTTP/1.1 {step.status} X", f"content-length: {len(body)}"]
        lines += [f"{name}: {value}" for name, value in step.headers.items()]
        writer.write("\r\n".join([*lines, "", ""]).encode() + body)
        await writer.drain()
        return True

    def _step(self, route: str) -> Step:
        steps = self._steps[route]
        if steps:
            return steps.popleft() if len(steps) > 1 else steps[0]
        if route == "POST /v1/agents/register":
            self._registered += 1
            return Reply(201, {"agent": agent(), "agentKey": f"key_{self._registered}", "resumed": False})
        if route.startswith("DELETE /v1/agents/"):
            return Reply(204)
        return Reply(200, {"agent": agent()})


class World:
    """Time that passes only by being slept through, and chance that is always one half. Heartbeats wait for `beat`."""

    def __init__(self) -> None:
        self.at = 100.0
        self.slept: list[float] = []
        self.beats: asyncio.Queue[None] = asyncio.Queue()

    def beat(self) -> None:
        self.beats.put_nowait(None)

    async def sleep(self, seconds: float) -> None:
        if seconds == 10.0:
            await self.beats.get()
            return
        self.slept.append(seconds)
        self.at += seconds

    @property
    def surroundings(self) -> Surroundings:
        return Surroundings(
            now=lambda: self.at, sleep=self.sleep, chance=lambda: 0.5, entropy=lambda count: bytes(range(count))
        )
