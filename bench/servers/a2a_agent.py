"""An A2A agent on the official SDK: its request handler, its database task store on SQLite (WAL, FULL), an echo."""

import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from a2a.helpers import new_task_from_user_message
from a2a.server.agent_execution import AgentExecutor, RequestContext
from a2a.server.events import EventQueue
from a2a.server.request_handlers import DefaultRequestHandler
from a2a.server.routes import create_jsonrpc_routes
from a2a.server.tasks import DatabaseTaskStore, TaskUpdater
from a2a.types import AgentCapabilities, AgentCard, Part
from sqlalchemy import event
from sqlalchemy.ext.asyncio import create_async_engine
from starlette.applications import Starlette


class Echo(AgentExecutor):  # type: ignore[misc]  # its base is known only in the bench's own environment
    """Takes the request (submitted), starts (working: the acknowledgement), answers with as much text (completed)."""

    async def execute(self, context: RequestContext, event_queue: EventQueue) -> None:
        assert context.message is not None
        task = new_task_from_user_message(context.message)
        await event_queue.enqueue_event(task)
        updater = TaskUpdater(event_queue, task.id, task.context_id)
        await updater.start_work()
        text = "y" * len(context.message.parts[0].text)
        await updater.complete(updater.new_agent_message([Part(text=text)]))

    async def cancel(self, context: RequestContext, event_queue: EventQueue) -> None:
        raise NotImplementedError("the bench cancels nothing")


engine = create_async_engine(f"sqlite+aiosqlite:///{os.environ['BENCH_DATABASE']}")


def durable(connection: Any, _record: Any) -> None:
    for pragma in ("journal_mode = WAL", "synchronous = FULL", "busy_timeout = 30000"):
        connection.execute(f"PRAGMA {pragma}")


event.listen(engine.sync_engine, "connect", durable)
card = AgentCard(name="echo", description="echoes", version="1", capabilities=AgentCapabilities(streaming=False))
store = DatabaseTaskStore(engine)


@asynccontextmanager
async def lifespan(_app: Starlette) -> AsyncIterator[None]:
    """Its table is made before the first request: of several at once each would try to make it."""
    await store.initialize()
    yield


handler = DefaultRequestHandler(agent_executor=Echo(), task_store=store, agent_card=card)
app = Starlette(routes=create_jsonrpc_routes(handler, "/"), lifespan=lifespan)
