"""The event stream over a socket that breaks: nothing is missed, nothing comes twice, and it never gives up."""

from collections.abc import AsyncIterator
from contextlib import aclosing
from typing import Any

import pytest

from peerline.client.async_hub import AsyncHub
from peerline.client.events import Event
from peerline.core.errors import DuplicateAgentName, PeerlineError, PresenceStreamForbidden, Unproven
from tests.client.scripted_hub import (
    CLOSE,
    Raw,
    Reply,
    ScriptedHub,
    World,
    agent,
    frame,
    message,
    refuse,
    replied,
    stream,
)

pytestmark = pytest.mark.anyio

EVENTS, REGISTER = "GET /v1/events", "POST /v1/agents/register"
READY = frame("ready", {"agent": agent()}, "3")


def pushed(number: int, token: str = "3") -> str:
    return frame("message", {"type": "message", "message": message(id=f"msg_{number}")}, token)


@pytest.fixture
async def server() -> AsyncIterator[ScriptedHub]:
    async with ScriptedHub() as hub:
        yield hub


@pytest.fixture
def world() -> World:
    return World()


def a_hub(server: ScriptedHub, world: World, **options: Any) -> AsyncHub:
    return AsyncHub(server.url, project="demo", name="lead", host="box", surroundings=world.surroundings, **options)


async def take(hub: AsyncHub, count: int, **options: Any) -> list[Event]:
    taken: list[Event] = []
    async with aclosing(hub.events(**options)) as events:
        async for event in events:
            taken.append(event)
            if len(taken) == count:
                break
    return taken


async def test_events_come_with_their_tokens_and_ready_is_none(server: ScriptedHub, world: World) -> None:
    reply = frame("reply", {"type": "reply", "message": replied()}, "4")
    server.script(EVENTS, stream(READY, ": heartbeat\n\n", pushed(1), reply))
    async with a_hub(server, world) as hub:
        first, second = await take(hub, 2, notes=True)
    assert (first.type, first.resume, second.type, second.resume) == ("message", "3", "reply", "4")
    (asked,) = server.of(EVENTS)
    assert asked.path == "/v1/events?agentId=agt_1&notes=1"
    assert (asked.headers["accept"], "last-event-id" in asked.headers) == ("text/event-stream", False)


async def test_after_a_loss_it_goes_on_from_the_last_token_it_saw(server: ScriptedHub, world: World) -> None:
    reply = frame("reply", {"type": "reply", "message": replied()}, "8")
    silent = stream(": heartbeat\n\n", stay=False)
    server.script(EVENTS, stream(READY, pushed(1, "7"), stay=False), silent, stream(reply))
    gaps: list[PeerlineError | None] = []
    async with a_hub(server, world) as hub:
        taken = await take(hub, 2, on_gap=gaps.append)
    assert [event.type for event in taken] == ["message", "reply"]
    assert [asked.headers.get("last-event-id") for asked in server.of(EVENTS)] == [None, "7", "7"]
    assert [gap and gap.text for gap in gaps] == ["the hub ended the stream", "the hub ended the stream", None]


async def test_a_stream_starts_from_the_token_it_is_given(server: ScriptedHub, world: World) -> None:
    server.script(EVENTS, stream(pushed(1)))
    async with a_hub(server, world) as hub:
        await take(hub, 1, resume="41")
    assert server.of(EVENTS)[0].headers["last-event-id"] == "41"


async def test_a_request_offered_again_by_the_next_stream_comes_once(server: ScriptedHub, world: World) -> None:
    again = stream(READY, pushed(1), pushed(2), stay=False)
    server.script(EVENTS, stream(READY, pushed(1), stay=False), again, stream(READY, pushed(1), pushed(2), pushed(3)))
    async with a_hub(server, world) as hub:
        taken = await take(hub, 3)
    assert [event.message and event.message.id for event in taken] == ["msg_1", "msg_2", "msg_3"]


async def test_it_tries_for_ever_with_growing_pauses_that_start_anew_after_a_success(
    server: ScriptedHub, world: World
) -> None:
    failing: list[Reply | Raw] = [
        CLOSE,
        refuse(503, "hub_stopping"),
        Reply(502, b"<html>"),
        refuse(500, "internal_error"),
        CLOSE,
    ] * 3
    server.script(EVENTS, *failing, stream(pushed(1), stay=False), CLOSE, stream(pushed(2)))
    async with a_hub(server, world) as hub:
        assert len(await take(hub, 2)) == 2
    growing = [0.05, 0.1, 0.2, 0.4, 0.8, 1.6, *[2.5] * 9]
    assert world.slept == pytest.approx([*growing, 0.05, 0.1])


async def test_a_stream_that_falls_silent_is_left(server: ScriptedHub, world: World) -> None:
    """On the real clock, with an idle time-out of a few milliseconds."""
    server.script(EVENTS, stream(READY), stream(pushed(1)))
    gaps: list[PeerlineError | None] = []
    async with a_hub(server, world, idle_s=0.05) as hub:
        await take(hub, 1, on_gap=gaps.append)
    assert [gap and gap.text for gap in gaps] == ["nothing came from the hub for 0.05 s", None]


async def test_a_forgotten_identity_is_registered_again_and_the_stream_goes_on(
    server: ScriptedHub, world: World
) -> None:
    server.script(EVENTS, refuse(401, "invalid_agent_identity"), stream(pushed(1)))
    async with a_hub(server, world) as hub:
        await take(hub, 1)
    assert [asked.headers["x-kxm-agent-key"] for asked in server.of(EVENTS)] == ["key_1", "key_2"]
    assert [asked.body.get("resume") for asked in server.of(REGISTER)] == [None, "key_1"]


@pytest.mark.parametrize(
    ("answer", "kind"),
    [
        (refuse(401, "invalid_auth"), Unproven),
        (refuse(403, "presence_stream_forbidden"), PresenceStreamForbidden),
    ],
)
async def test_a_refusal_that_time_does_not_cure_ends_the_stream(
    server: ScriptedHub, world: World, answer: Reply, kind: type[PeerlineError]
) -> None:
    server.script(EVENTS, answer)
    async with a_hub(server, world) as hub:
        with pytest.raises(kind):
            await take(hub, 1)
    assert len(server.of(EVENTS)) == 1


async def test_a_name_that_somebody_else_took_meanwhile_ends_the_stream(server: ScriptedHub, world: World) -> None:
    server.script(EVENTS, refuse(401, "invalid_agent_identity"))
    async with a_hub(server, world) as hub:
        server.script(REGISTER, refuse(409, "duplicate_agent_name"))
        with pytest.raises(DuplicateAgentName):
            await take(hub, 1)


async def test_leaving_the_iterator_closes_its_connection(server: ScriptedHub, world: World) -> None:
    server.script(EVENTS, stream(*(pushed(number) for number in range(100))))
    async with a_hub(server, world) as hub:
        await take(hub, 1)
        await server.left.wait()
