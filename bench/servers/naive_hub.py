"""The hub as one would write it in an afternoon: starlette routes, aiosqlite, one commit a request with FULL.

It speaks as much of the hub's wire as the driver uses, checks the agent's key, and does nothing cleverly. It is the
yardstick of P4 and P14, not an example.
"""

import asyncio
import json
import os
import secrets
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import aiosqlite
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, StreamingResponse
from starlette.routing import Route

SCHEMA = """
    PRAGMA journal_mode = WAL;
    PRAGMA synchronous = FULL;
    CREATE TABLE agent (id TEXT PRIMARY KEY, name TEXT, project TEXT, key TEXT);
    CREATE TABLE message (
        id TEXT PRIMARY KEY, sender TEXT, recipient TEXT, content TEXT, status TEXT, reply TEXT, created_at INTEGER
    );
"""


class Hub:
    """One connection, one transaction at a time, a queue for each open stream."""

    def __init__(self, database: aiosqlite.Connection) -> None:
        self._database = database
        self._lock = asyncio.Lock()
        self._streams: dict[str, list[asyncio.Queue[str]]] = {}

    async def write(self, sql: str, *values: Any) -> None:
        async with self._lock:
            await self._database.execute(sql, values)
            await self._database.commit()

    async def read(self, sql: str, *values: Any) -> dict[str, Any] | None:
        async with self._database.execute(sql, values) as cursor:
            row = await cursor.fetchone()
            return dict(zip([column[0] for column in cursor.description], row, strict=True)) if row else None

    def tell(self, agent: str, kind: str, message: dict[str, Any]) -> None:
        for stream in self._streams.get(agent, []):
            stream.put_nowait(f"event: {kind}\ndata: {json.dumps({'type': kind, 'message': message})}\n\n")

    async def events(self, agent: str) -> AsyncIterator[str]:
        queue: asyncio.Queue[str] = asyncio.Queue()
        self._streams.setdefault(agent, []).append(queue)
        try:
            yield "event: ready\ndata: {}\n\n"
            while True:
                yield await queue.get()
        finally:
            self._streams[agent].remove(queue)


async def caller(request: Request) -> str | None:
    """The id of the agent that proved itself."""
    agent = request.headers.get("x-kxm-agent-id", "")
    row = await hub(request).read("SELECT key FROM agent WHERE id = ?", agent)
    key = request.headers.get("x-kxm-agent-key", "")
    return agent if row and secrets.compare_digest(row["key"], key) else None


def hub(request: Request) -> Hub:
    found: Hub = request.app.state.hub
    return found


async def register(request: Request) -> JSONResponse:
    fields = await request.json()
    agent, key = f"agt_{secrets.token_hex(16)}", secrets.token_hex(16)
    await hub(request).write("INSERT INTO agent VALUES (?, ?, ?, ?)", agent, fields["name"], fields["project"], key)
    return JSONResponse({"agent": {"id": agent}, "agentKey": key}, 201)


async def send(request: Request) -> JSONResponse:
    agent = await caller(request)
    if agent is None:
        return JSONResponse({}, 401)
    fields = await request.json()
    here = "SELECT id FROM agent WHERE name = ? AND project = (SELECT project FROM agent WHERE id = ?)"
    target = await hub(request).read(here, fields["target"], agent)
    if target is None:
        return JSONResponse({}, 404)
    message = {
        "id": f"msg_{secrets.token_hex(16)}",
        "sender": agent,
        "recipient": target["id"],
        "content": fields["content"],
        "status": "queued",
        "reply": None,
        "created_at": time.time_ns() // 1_000_000,
    }
    await hub(request).write("INSERT INTO message VALUES (?, ?, ?, ?, ?, ?, ?)", *message.values())
    hub(request).tell(target["id"], "message", message)
    return JSONResponse({"message": message, "idempotent": False}, 202)


async def acknowledge(request: Request) -> JSONResponse:
    return await change(request, "UPDATE message SET status = 'delivered' WHERE id = ?")


async def reply(request: Request) -> JSONResponse:
    fields = await request.json()
    return await change(request, "UPDATE message SET reply = ?, status = 'replied' WHERE id = ?", fields["content"])


async def change(request: Request, sql: str, *values: Any) -> JSONResponse:
    agent, message_id = await caller(request), request.path_params["id"]
    message = await hub(request).read("SELECT * FROM message WHERE id = ?", message_id)
    if agent is None or message is None or message["recipient"] != agent:
        return JSONResponse({}, 403)
    await hub(request).write(sql, *values, message_id)
    changed = await hub(request).read("SELECT * FROM message WHERE id = ?", message_id)
    assert changed is not None
    if changed["status"] == "replied":
        hub(request).tell(changed["sender"], "reply", changed)
    return JSONResponse({"message": changed})


async def events(request: Request) -> StreamingResponse | JSONResponse:
    agent = await caller(request)
    if agent is None:
        return JSONResponse({}, 401)
    return StreamingResponse(hub(request).events(agent), media_type="text/event-stream")


@asynccontextmanager
async def lifespan(app: Starlette) -> AsyncIterator[None]:
    async with aiosqlite.connect(os.environ["BENCH_DATABASE"]) as database:
        await database.executescript(SCHEMA)
        app.state.hub = Hub(database)
        yield


app = Starlette(
    lifespan=lifespan,
    routes=[
        Route("/v1/agents/register", register, methods=["POST"]),
        Route("/v1/messages", send, methods=["POST"]),
        Route("/v1/messages/{id}/ack", acknowledge, methods=["POST"]),
        Route("/v1/messages/{id}/reply", reply, methods=["POST"]),
        Route("/v1/events", events),
    ],
)
