"""The client against the real hub, in its own process."""

import asyncio
from collections.abc import Callable
from contextlib import AsyncExitStack, aclosing
from pathlib import Path
from typing import Any

import pytest

from peerline.client.async_hub import AsyncHub
from peerline.client.events import Event
from peerline.client.hub import Hub
from peerline.client.records import Registered
from peerline.client.refusals import TimedOut
from peerline.core.errors import (
    DuplicateAgentName,
    DuplicateReply,
    IdempotencyConflict,
    Invalid,
    MessageForbidden,
    MessageNotFound,
    SelfTarget,
    TargetNotFound,
    Unproven,
    WrongState,
)
from tests.hub_process import HubProcess, Project

pytestmark = pytest.mark.anyio


def connect(project: Project, name: str, **options: Any) -> AsyncHub:
    return AsyncHub(project.hub.url, project=project.name, name=name, token=project.token, **options)


async def test_a_minimal_client_gets_no_text_back_that_it_has_and_every_other_one(project: Project) -> None:
    async with (
        connect(project, "lead", minimal=True) as lead,
        connect(project, "reviewer", minimal=True) as reviewer,
        aclosing(reviewer.events()) as inbound,
        aclosing(lead.events()) as outcome,
    ):
        sent = await lead.send("reviewer", "look")
        assert sent.content == "look"
        pushed = (await _next(inbound, "message")).message
        assert pushed is not None
        assert pushed.content == "look"
        taken = await reviewer.acknowledge(sent.id)
        assert (taken.message.content, taken.of(pushed).content, taken.of(pushed).status) == (
            "",
            "look",
            "delivered",
        )
        replied = await reviewer.reply(sent.id, "fine")
        assert (replied.status, replied.content, replied.reply) == ("replied", "", None)
        ended = (await _next(outcome, "reply")).message
        assert ended is not None
        assert ended.reply is not None
        assert (ended.content, ended.reply.content) == ("", "fine")
        assert (await lead.get(sent.id)).content == "look"


async def test_a_request_is_sent_pushed_taken_noted_replied_and_its_trail_tells_it(project: Project) -> None:
    async with connect(project, "lead") as lead, connect(project, "reviewer", purpose="reads diffs") as reviewer:
        assert {agent.name: agent.purpose for agent in await lead.agents()}["reviewer"] == "reads diffs"
        async with aclosing(reviewer.events()) as inbound, aclosing(lead.events(notes=True)) as outcome:
            sent = await lead.send("Reviewer", "look at «ü😀»", correlation_id="c-1", ttl_ms=60_000)
            pushed = await _next(inbound, "message")
            assert pushed.message is not None
            assert (pushed.message.id, pushed.message.content) == (sent.id, "look at «ü😀»")
            heard = asyncio.ensure_future(_next(outcome, "note"))
            taken = await reviewer.acknowledge(sent.id, adapter="test")
            assert (taken.first, taken.message.status) == (True, "delivered")
            assert (await reviewer.acknowledge(sent.id)).first is False
            assert [message.id for message in await reviewer.inbox()] == [sent.id]
            await _until_listening(reviewer, lead)
            await reviewer.note(sent.id, "half way")
            noted = await heard
            assert noted.note is not None
            assert (noted.message_id, noted.note.content) == (sent.id, "half way")
            waiting = asyncio.ensure_future(lead.wait(sent.id, 30))
            await reviewer.reply(sent.id, "fine")
            done = await waiting
            assert done.reply is not None
            assert (done.status, done.reply.content) == ("replied", "fine")
            assert (await _next(outcome, "reply")).message_id == sent.id
        trail = await lead.trail(sent.id)
        facts = [fact.fact for fact in trail.facts]
        assert facts[0] == "stored"
        assert {"acknowledged", "replied", "noted"} <= set(facts)
        assert trail.standing
        assert [note.content for note in await lead.notes(sent.id)] == ["half way"]
        assert [message.id for message in await lead.sent()] == [sent.id]
        assert await lead.sent(state="open") == ()


async def _next(events: Any, kind: str) -> Event:
    async for event in events:
        assert isinstance(event, Event)
        if event.type == kind:
            return event
    raise AssertionError("the stream ended")


async def _until_listening(other: AsyncHub, listener: AsyncHub) -> None:
    """A note is pushed only to streams that are open: this request to the listener shows that its stream is."""
    probe = await other.send(listener.agent.id, "are you listening?")
    async with aclosing(listener.events()) as events:
        assert (await _next(events, "message")).message_id == probe.id
    await listener.acknowledge(probe.id)


async def test_the_refusals_of_the_hub_arrive_as_their_classes(project: Project) -> None:
    async with connect(project, "lead") as lead, connect(project, "reviewer") as reviewer:
        with pytest.raises(TargetNotFound, match="online target not found: nobody"):
            await lead.send("nobody", "x")
        with pytest.raises(SelfTarget):
            await lead.send("lead", "x")
        with pytest.raises(Invalid, match="ttlMs must be an integer between"):
            await lead.send("reviewer", "x", ttl_ms=1)
        sent = await lead.send("reviewer", "x", idempotency_key="k")
        assert (await lead.send("reviewer", "x", idempotency_key="k")).id == sent.id
        with pytest.raises(IdempotencyConflict):
            await lead.send("reviewer", "y", idempotency_key="k")
        with pytest.raises(MessageForbidden):
            await lead.reply(sent.id, "x")
        with pytest.raises(MessageNotFound):
            await lead.get("msg_nothing")
        await reviewer.reply(sent.id, "done")
        with pytest.raises(DuplicateReply):
            await reviewer.reply(sent.id, "again")
        with pytest.raises(WrongState, match="cannot cancel a replied message"):
            await lead.cancel(sent.id)
        with pytest.raises(DuplicateAgentName, match="agent name already active in project: LEAD"):
            await connect(project, "LEAD").start()


async def test_a_wrong_token_is_unproven(hub_process: HubProcess) -> None:
    wrong = AsyncHub(hub_process.url, project="listed-a", name="x", token="not-its-token")
    with pytest.raises(Unproven) as caught:
        await wrong.start()
    assert caught.value.code == "invalid_auth"


async def test_a_second_session_of_one_agent_comes_in_by_its_key(project: Project) -> None:
    keys: list[Registered] = []
    async with connect(project, "lead", on_registered=keys.append) as first:
        async with connect(project, "lead", resume=keys[0].agent_key) as second:
            assert second.agent.id == first.agent.id
        assert len(await first.agents()) == 1


async def test_a_wait_that_ends_leaves_the_request_untouched(project: Project) -> None:
    async with connect(project, "lead") as lead, connect(project, "reviewer"):
        sent = await lead.send("reviewer", "x")
        with pytest.raises(TimedOut, match=f"timed out waiting for {sent.id}"):
            await lead.wait(sent.id, 0.05)
        assert (await lead.get(sent.id)).status == "queued"
        assert (await lead.cancel(sent.id)).status == "cancelled"


async def test_a_fan_out_collects_replies_and_tells_of_the_one_that_is_not_there(project: Project) -> None:
    async with AsyncExitStack() as stack:
        lead = await stack.enter_async_context(connect(project, "lead"))
        peers = [await stack.enter_async_context(connect(project, name)) for name in ("planner", "reviewer")]

        async def answer(peer: AsyncHub) -> None:
            async with aclosing(peer.events()) as events:
                message = (await _next(events, "message")).message
                assert message is not None
                await peer.reply(message.id, f"{message.recipient_name} says yes")

        async with asyncio.TaskGroup() as group:
            for peer in peers:
                group.create_task(answer(peer))
            answers = await lead.fanout(["planner", "Reviewer", "nobody"], "plan?", timeout_s=30)
        assert {each.target: each.reply.content if each.reply else each.error for each in answers} == {
            "planner": "planner says yes",
            "reviewer": "reviewer says yes",
            "nobody": "online target not found: nobody",
        }


async def test_a_stream_misses_no_reply_and_repeats_none_while_the_hub_restarts(
    start_hub: Callable[..., HubProcess], tmp_path: Path
) -> None:
    hub = start_hub()
    port = str(hub.address[1])
    project = Project(hub, "demo", hub.admin)
    async with connect(project, "lead") as lead, connect(project, "reviewer") as reviewer:
        async with aclosing(lead.events()) as events:
            first = await lead.send("reviewer", "one")
            second = await lead.send("reviewer", "two")
            await reviewer.reply(first.id, "1")
            assert (await _next(events, "reply")).message_id == first.id
            assert hub.stop() == 0
            hub.environment["KXM_PORT"] = port
            hub.start()
            await reviewer.reply(second.id, "2")
            again = await _next(events, "reply")
            assert again.message_id == second.id
        assert (await lead.wait(second.id, 10)).status == "replied"


async def test_a_hub_with_a_new_database_is_joined_again(start_hub: Callable[..., HubProcess]) -> None:
    hub = start_hub(KXM_DATA_PATH=":memory:")
    project = Project(hub, "demo", hub.admin)
    async with connect(project, "lead") as lead:
        before = lead.agent.id
        hub.stop()
        hub.environment["KXM_PORT"] = str(hub.address[1])
        hub.start()
        assert [agent.name for agent in await lead.agents()] == ["lead"]
        assert lead.agent.id != before
        hub.stop()


def test_the_blocking_client_over_the_unix_socket_needs_only_a_token_minted_there(
    start_hub: Callable[..., HubProcess],
) -> None:
    hub = start_hub()
    socket_path = next((hub.home / "state").glob("hub-*.sock"))
    minted = hub.call("POST", "/v1/local/token", {"project": "demo"}, address=str(socket_path)).json["token"]
    with (
        Hub(f"unix:{socket_path}", project="demo", name="lead", token=minted) as lead,
        Hub(f"unix:{socket_path}", project="demo", name="reviewer", token=minted) as reviewer,
    ):
        sent = lead.send("reviewer", "x")
        event = next(reviewer.events())
        assert event.message_id == sent.id
        reviewer.reply(sent.id, "y")
        done = lead.wait(sent.id, 10)
        assert done.reply is not None
        assert done.reply.content == "y"
