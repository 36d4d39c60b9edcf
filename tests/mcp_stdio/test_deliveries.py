"""Requests on their way in, with a hub that fails as a test tells it to."""

import asyncio
from collections.abc import AsyncIterator
from typing import Any

import pytest

from peerline.client.async_hub import AsyncHub
from peerline.client.events import Event
from peerline.client.records import Message
from peerline.mcp_stdio.channel import outcome_params
from peerline.mcp_stdio.deliveries import Deliveries
from peerline.tools.inbox import Inbox, Outcomes
from peerline.tools.reports import Reports
from tests.client.scripted_hub import CLOSE, Reply, ScriptedHub, World, message, refuse
from tests.mcp_stdio.records import a_message

pytestmark = pytest.mark.anyio

ACK = "POST /v1/messages/msg_1/ack"
TAKEN = Reply(200, {"message": message("delivered"), "first": True})


class Session:
    """The parts of a session that take what comes; `pushed` is what its client is shown."""

    def __init__(self, server: ScriptedHub, world: World) -> None:
        self.pushed: list[dict[str, Any]] = []
        self.inbox = Inbox()
        self.gate = asyncio.Event()
        self.hub = Gated(server.url, self.gate, world)
        outcomes = Outcomes(lambda message: self.pushed.append(outcome_params(message)))
        reports = Reports("claude-code", lambda: None)
        self.deliveries = Deliveries(
            self.inbox, outcomes, reports, self.pushed.append, adapter="mcp:claude-code", world=world.surroundings
        )

    async def comes(self, kind: str, about: Message) -> None:
        await self.deliveries.take(self.hub, Event(type=kind, data={}, message=about))

    @property
    def announced(self) -> list[str]:
        return [params["meta"]["message_id"] for params in self.pushed]


class Gated(AsyncHub):
    """A client whose reading of the inbox ends when the gate opens."""

    def __init__(self, url: str, gate: asyncio.Event, world: World) -> None:
        super().__init__(url, project="demo", name="lead", surroundings=world.surroundings)
        self.gate = gate

    async def inbox(self, *, peek: bool = False) -> tuple[Message, ...]:
        found = await super().inbox()
        await self.gate.wait()
        return found


@pytest.fixture
async def server() -> AsyncIterator[ScriptedHub]:
    async with ScriptedHub() as hub:
        yield hub


@pytest.fixture
async def session(server: ScriptedHub) -> AsyncIterator[Session]:
    made = Session(server, World())
    async with made.hub:
        yield made


@pytest.mark.requirement("MSG-CANCEL-CLAUDE")
@pytest.mark.parametrize("end", ["cancelled", "expired"])
async def test_what_ends_while_the_inbox_is_read_is_never_announced(
    server: ScriptedHub, session: Session, end: str
) -> None:
    server.script("GET /v1/agents/agt_1/inbox", Reply(200, {"messages": [message("delivered")]}))
    reading = asyncio.ensure_future(session.deliveries.read_back(session.hub))
    await server.until("GET /v1/agents/agt_1/inbox")
    await session.comes(end, a_message(status=end))
    session.gate.set()
    await reading
    assert session.pushed == []
    assert "msg_1" not in session.inbox


async def test_a_request_that_is_read_back_and_pushed_is_announced_once(server: ScriptedHub, session: Session) -> None:
    server.script("GET /v1/agents/agt_1/inbox", Reply(200, {"messages": [message("delivered")]}))
    server.script(ACK, TAKEN)
    session.gate.set()
    await session.deliveries.read_back(session.hub)
    await session.comes("message", a_message(status="queued"))
    await session.deliveries.read_back(session.hub)  # as after a lost identity
    assert session.announced == ["msg_1"]


async def test_what_another_session_took_is_not_announced_here(server: ScriptedHub, session: Session) -> None:
    server.script(ACK, Reply(200, {"message": message("delivered"), "first": False}))
    await session.comes("message", a_message(status="queued"))
    assert session.pushed == []


async def test_a_lost_answer_to_an_acknowledgement_costs_nothing(server: ScriptedHub, session: Session) -> None:
    server.script(ACK, CLOSE, Reply(200, {"message": message("delivered"), "first": False}))
    await session.comes("message", a_message(status="queued"))
    assert session.announced == ["msg_1"]
    assert [asked.body for asked in server.of(ACK)] == [{"adapter": "mcp:claude-code"}] * 2


@pytest.mark.parametrize(
    "busy", [refuse(429, "rate_limited"), refuse(503, "storage_failed"), refuse(500, "internal_error")]
)
async def test_an_acknowledgement_is_tried_until_the_hub_can(
    server: ScriptedHub, session: Session, busy: Reply
) -> None:
    server.script(ACK, busy, busy, TAKEN)
    await session.comes("message", a_message(status="queued"))
    assert session.announced == ["msg_1"]


@pytest.mark.parametrize("gone", [refuse(404, "message_not_found"), refuse(409, "invalid_message_state")])
async def test_a_request_that_ended_before_it_was_taken_is_passed_over(
    server: ScriptedHub, session: Session, gone: Reply
) -> None:
    server.script(ACK, gone)
    await session.comes("message", a_message(status="queued"))
    assert session.pushed == []


async def test_only_the_end_of_ones_own_request_is_told(session: Session) -> None:
    mine = {"sender": "agt_1", "recipient": "agt_2", "recipient_name": "reviewer"}
    await session.comes("reply", a_message(1, reply="yes", **mine))
    await session.comes("expired", a_message(2, status="expired", **mine))
    await session.comes("expired", a_message(3, status="expired"))
    await session.comes("cancelled", a_message(4, status="cancelled"))
    kinds = [(params["meta"]["message_id"], params["meta"]["kind"]) for params in session.pushed]
    assert kinds == [("msg_1", "reply"), ("msg_2", "expired")]
