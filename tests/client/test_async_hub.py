"""The client against a socket that fails in every way a hub can."""

import asyncio
from collections.abc import AsyncIterator, Callable
from typing import Any

import pytest

from peerline.client.async_hub import AsyncHub
from peerline.client.refusals import AlreadyStarted, InvalidAnswer, OutcomeUnknown, Refused, TimedOut, Unreachable
from peerline.core.errors import (
    Conflict,
    DuplicateAgentName,
    DuplicateReply,
    Invalid,
    PeerlineError,
    TargetNotFound,
    TooLarge,
    Unproven,
)
from tests.client.scripted_hub import (
    AT,
    CLOSE,
    SILENCE,
    Raw,
    Reply,
    ScriptedHub,
    World,
    agent,
    message,
    refuse,
    replied,
)

pytestmark = pytest.mark.anyio

SEND, REGISTER, GET = "POST /v1/messages", "POST /v1/agents/register", "GET /v1/messages/msg_1"
REPLY, ACK = "POST /v1/messages/msg_1/reply", "POST /v1/messages/msg_1/ack"


@pytest.fixture
async def server() -> AsyncIterator[ScriptedHub]:
    async with ScriptedHub() as hub:
        yield hub


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
async def hub(server: ScriptedHub, world: World) -> AsyncIterator[AsyncHub]:
    async with a_hub(server, world) as started:
        yield started


def a_hub(server: ScriptedHub, world: World, **options: Any) -> AsyncHub:
    given: dict[str, Any] = {
        "project": "demo",
        "name": "lead",
        "token": "tok",
        "host": "box",
        "surroundings": world.surroundings,
    }
    return AsyncHub(server.url, **(given | options))


async def test_it_registers_calls_as_that_agent_and_unregisters(server: ScriptedHub, world: World) -> None:
    async with a_hub(server, world, purpose="asks") as hub:
        assert hub.agent.name == "lead"
        server.script("GET /v1/agents", Reply(200, {"agents": [agent(), agent("reviewer", 2)]}))
        assert [each.name for each in await hub.agents(include_offline=True)] == ["lead", "reviewer"]
    registered, listed, left = server.asked
    assert registered.body == {"name": "lead", "project": "demo", "purpose": "asks", "host": "box"}
    assert (registered.headers["authorization"], "x-kxm-agent-id" in registered.headers) == ("Bearer tok", False)
    assert str(listed) == "GET /v1/agents?includeOffline=true"
    assert (listed.headers["x-kxm-agent-id"], listed.headers["x-kxm-agent-key"]) == ("agt_1", "key_1")
    assert str(left) == "DELETE /v1/agents/agt_1"
    assert server.connections == 1


async def test_a_second_start_is_refused_and_a_second_stop_is_not(server: ScriptedHub, world: World) -> None:
    hub = a_hub(server, world)
    await hub.start()
    with pytest.raises(AlreadyStarted, match="hub client is already started"):
        await hub.start()
    await hub.stop()
    await hub.stop()
    assert len(server.of("DELETE /v1/agents/agt_1")) == 1


async def test_an_unregistering_that_fails_is_no_error(server: ScriptedHub, world: World) -> None:
    server.script("DELETE /v1/agents/agt_1", CLOSE)
    async with a_hub(server, world):
        pass
    assert server.of("DELETE /v1/agents/agt_1")


async def test_nobody_listening_is_unreachable_after_a_bounded_number_of_tries(world: World) -> None:
    async with ScriptedHub() as server:
        hub = a_hub(server, world)
    with pytest.raises(Unreachable, match=r"no hub answers at http://127\.0\.0\.1:\d+"):
        await hub.start()
    assert world.slept == [0.1, 0.2, 0.4]


async def test_a_missing_socket_is_unreachable(world: World) -> None:
    hub = AsyncHub("unix:/nowhere/hub.sock", project="demo", name="lead", surroundings=world.surroundings)
    with pytest.raises(Unreachable, match=r"no hub answers at unix:/nowhere/hub\.sock: No such file"):
        await hub.start()


async def test_a_host_name_that_cannot_be_one_is_unreachable(world: World) -> None:
    hub = AsyncHub("http://a..b:1", project="demo", name="lead", surroundings=world.surroundings)
    with pytest.raises(Unreachable, match=r"no hub answers at http://a\.\.b:1"):
        await hub.start()


async def test_a_send_without_an_answer_is_repeated_with_the_same_key(server: ScriptedHub, hub: AsyncHub) -> None:
    server.script(SEND, CLOSE, CLOSE, Reply(200, {"message": message(), "idempotent": True}))
    assert (await hub.send("reviewer", "look")).id == "msg_1"
    keys = [asked.body["idempotencyKey"] for asked in server.of(SEND)]
    assert keys == ["py:000102030405060708090a0b0c0d0e0f"] * 3


async def test_a_send_that_never_gets_an_answer_has_an_unknown_outcome_and_tells_its_key(
    server: ScriptedHub, hub: AsyncHub
) -> None:
    server.script(SEND, CLOSE)
    with pytest.raises(OutcomeUnknown, match="may or may not have happened") as caught:
        await hub.send("reviewer", "look", idempotency_key="mine")
    assert (caught.value.idempotency_key, caught.value.code) == ("mine", "outcome_unknown")
    assert len(server.of(SEND)) == 4


async def test_a_hub_that_says_nothing_ends_at_the_deadline(server: ScriptedHub) -> None:
    """On the real clock, with a deadline of a few milliseconds."""
    hub = AsyncHub(server.url, project="demo", name="lead")
    server.script(REGISTER, SILENCE)
    with pytest.raises(OutcomeUnknown, match="request timed out after 50ms"):
        await hub._requests.call("POST", "/v1/agents/register", {}, headers={}, timeout_s=0.05, repeatable=True)


async def test_a_stopping_hub_is_asked_again(server: ScriptedHub, hub: AsyncHub) -> None:
    stopping = refuse(503, "hub_stopping", "internal server error", detail="the hub is stopping")
    server.script(SEND, stopping, Reply(202, {"message": message(), "idempotent": False}))
    assert (await hub.send("reviewer", "look")).status == "queued"


@pytest.mark.parametrize(
    ("answer", "kind", "code", "text"),
    [
        (
            refuse(404, "target_not_found", "online target not found: x"),
            TargetNotFound,
            "target_not_found",
            "not found: x",
        ),
        (refuse(400, "protocol_error", "ttlMs"), Invalid, "protocol_error", "ttlMs"),
        (refuse(409, "something_new", "later"), Conflict, "something_new", "later"),
        (refuse(409, "something_new", "later"), Refused, "something_new", "later"),
        (refuse(500, "internal_error", "internal server error"), Refused, "internal_error", "internal server error"),
        (
            refuse(507, "storage_full", "internal server error", detail="disk full"),
            PeerlineError,
            "storage_full",
            "disk full",
        ),
        (Reply(404, b"<html>"), InvalidAnswer, "invalid_answer", "invalid JSON with HTTP 404"),
        (Reply(202, b"<html>"), InvalidAnswer, "invalid_answer", "invalid JSON with HTTP 202"),
        (
            Reply(202, {"message": {"id": 7}}),
            InvalidAnswer,
            "invalid_answer",
            "invalid JSON with HTTP 202",
        ),
        (Reply(302, b""), InvalidAnswer, "invalid_answer", "HTTP 302"),
        (Raw((b"SSH-2.0-OpenSSH_9\r\n",)), InvalidAnswer, "invalid_answer", "does not speak HTTP"),
    ],
)
async def test_every_refusal_is_a_typed_error_with_its_code(
    server: ScriptedHub, hub: AsyncHub, answer: Any, kind: type[PeerlineError], code: str, text: str
) -> None:
    server.script(SEND, answer)
    with pytest.raises(kind, match=text) as caught:
        await hub.send("reviewer", "look")
    assert caught.value.code == code
    assert len(server.of(SEND)) == 1


async def test_a_refusal_tells_its_request_id_status_and_when_to_come_back(server: ScriptedHub, hub: AsyncHub) -> None:
    server.script(SEND, Reply(429, refuse(429, "rate_limited").body, {"retry-after": "7"}))
    with pytest.raises(PeerlineError) as caught:
        await hub.send("reviewer", "look")
    assert caught.value.extras == {"requestId": "req_1", "status": 429, "retryAfter": 7}


async def test_an_identity_the_hub_forgot_is_found_again_once_for_all_calls(server: ScriptedHub, hub: AsyncHub) -> None:
    forgotten = refuse(401, "invalid_agent_identity")
    server.script("GET /v1/messages/msg_1", forgotten, forgotten, Reply(200, {"message": message()}))
    first, second = await asyncio.gather(hub.get("msg_1"), hub.get("msg_1"))
    assert (first.id, second.id) == ("msg_1", "msg_1")
    assert [asked.body.get("resume") for asked in server.of(REGISTER)] == [None, "key_1"]
    assert server.of("GET /v1/messages/msg_1")[-1].headers["x-kxm-agent-key"] == "key_2"


async def test_a_wrong_token_is_said_and_not_retried(server: ScriptedHub, world: World) -> None:
    server.script(REGISTER, refuse(401, "invalid_auth", "invalid project authentication token"))
    with pytest.raises(Unproven, match="invalid project authentication token"):
        await a_hub(server, world).start()
    assert len(server.asked) == 1


async def test_a_taken_name_is_refused(server: ScriptedHub, world: World) -> None:
    server.script(REGISTER, refuse(409, "duplicate_agent_name", "agent name already active in project: lead"))
    with pytest.raises(DuplicateAgentName, match="already active"):
        await a_hub(server, world).start()
    assert world.slept == []


async def test_a_name_that_may_be_our_own_lost_registration_is_waited_for(server: ScriptedHub, world: World) -> None:
    taken = refuse(409, "duplicate_agent_name")
    won = Reply(201, {"agent": agent(), "agentKey": "key_9", "resumed": True})
    server.script(REGISTER, CLOSE, taken, taken, won)
    hub = a_hub(server, world)
    with pytest.raises(OutcomeUnknown):
        await hub.start()
    await hub.start()
    assert world.slept == [1.5, 1.5]
    await hub.stop()


async def test_a_saved_key_that_the_hub_does_not_know_is_dropped(server: ScriptedHub, world: World) -> None:
    won = Reply(201, {"agent": agent(), "agentKey": "key_9", "resumed": True})
    server.script(REGISTER, refuse(401, "invalid_agent_identity"), won)
    async with a_hub(server, world, resume="key_old"):
        assert [asked.body.get("resume") for asked in server.of(REGISTER)] == ["key_old", None]


async def test_heartbeats_go_on_through_failures_and_find_a_lost_identity(
    server: ScriptedHub, world: World, hub: AsyncHub
) -> None:
    beat = "POST /v1/agents/agt_1/heartbeat"
    server.script(beat, CLOSE, refuse(401, "invalid_agent_identity"), Reply(200, {"agent": agent()}))
    world.beat()
    world.beat()
    asked = await server.until(beat, 3)
    assert [each.headers["x-kxm-agent-key"] for each in asked] == ["key_1", "key_1", "key_2"]
    assert all(each.body == {} for each in asked)


async def test_a_wait_polls_long_and_ends_with_the_reply(server: ScriptedHub, hub: AsyncHub, world: World) -> None:
    server.script(GET, Reply(200, {"message": replied("fine")}))
    done = await hub.wait("msg_1", 40)
    assert done.final
    assert done.reply is not None
    assert done.reply.content == "fine"
    assert [str(asked) for asked in server.of(GET)] == [f"{GET}?waitMs=25000"]


async def test_a_hub_that_answers_long_polls_at_once_is_asked_every_half_second(
    server: ScriptedHub, hub: AsyncHub, world: World
) -> None:
    server.script(GET, Reply(200, {"message": message()}))
    with pytest.raises(TimedOut, match="timed out waiting for msg_1"):
        await hub.wait("msg_1", 2.2)
    assert world.slept == pytest.approx([0.5, 0.5, 0.5, 0.5, 0.2])


async def test_a_wait_outlasts_a_hub_that_restarts(server: ScriptedHub, hub: AsyncHub) -> None:
    server.script(GET, CLOSE, CLOSE, Reply(200, {"message": replied()}))
    assert (await hub.wait("msg_1", 60)).final


async def test_a_wait_whose_last_look_failed_says_that_it_could_not_look(server: ScriptedHub, hub: AsyncHub) -> None:
    server.script(GET, CLOSE)
    with pytest.raises(Unreachable):
        await hub.wait("msg_1", 3)


async def test_a_cancelled_wait_leaves_the_client_usable(server: ScriptedHub, hub: AsyncHub) -> None:
    server.script(GET, SILENCE, Reply(200, {"message": message()}))
    waiting = asyncio.create_task(hub.wait("msg_1", 60))
    await server.until(GET)
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert (await hub.get("msg_1")).status == "queued"


async def test_a_reply_whose_answer_was_lost_is_recognised_as_our_own(server: ScriptedHub, hub: AsyncHub) -> None:
    server.script(REPLY, CLOSE)
    server.script(GET, Reply(200, {"message": replied("done")}))
    assert (await hub.reply("msg_1", " done\n")).status == "replied"
    assert len(server.of(REPLY)) == 1


async def test_a_reply_that_did_not_arrive_is_sent_again(server: ScriptedHub, hub: AsyncHub) -> None:
    server.script(REPLY, CLOSE, Reply(200, {"message": replied("done")}))
    server.script(GET, Reply(200, {"message": message("delivered")}))
    assert (await hub.reply("msg_1", "done")).status == "replied"


async def test_another_reply_is_never_taken_for_ours(server: ScriptedHub, hub: AsyncHub) -> None:
    server.script(REPLY, CLOSE, refuse(409, "duplicate_reply", "message already has a reply"))
    server.script(GET, Reply(200, {"message": replied("another text")}))
    with pytest.raises(DuplicateReply):
        await hub.reply("msg_1", "done")


async def test_an_acknowledgement_is_not_repeated_since_only_the_first_answer_gives_the_work(
    server: ScriptedHub, hub: AsyncHub
) -> None:
    server.script(ACK, CLOSE, Reply(200, {"message": message("delivered"), "first": False}))
    with pytest.raises(OutcomeUnknown):
        await hub.acknowledge("msg_1")
    assert len(server.of(ACK)) == 1
    assert (await hub.acknowledge("msg_1")).first is False


async def test_trail_notes_inbox_and_own_messages_are_read(server: ScriptedHub, hub: AsyncHub) -> None:
    facts = [{"at": AT, "fact": "stored", "observer": "hub"}]
    bare = {name: value for name, value in message().items() if name != "content"}
    trail = {"message": bare, "facts": facts, "standing": "reviewer is offline", "next": "wait"}
    server.script("GET /v1/messages/msg_1/trail", Reply(200, trail))
    server.script(
        "POST /v1/messages/msg_1/notes",
        Reply(201, {"note": {"content": "half", "createdAt": "2026-01-01T10:00:00.000Z"}}),
    )
    server.script("GET /v1/agents/agt_1/inbox", Reply(200, {"messages": [message()]}))
    server.script("GET /v1/messages", Reply(200, {"messages": [message(), message("delivered")]}))
    assert [fact.fact for fact in (await hub.trail("msg_1")).facts] == ["stored"]
    assert (await hub.note("msg_1", "half")).content == "half"
    assert [each.id for each in await hub.inbox()] == ["msg_1"]
    assert [each.id for each in await hub.inbox(peek=True)] == ["msg_1"]
    assert server.asked[-1].path.endswith("/inbox?peek=1")
    assert len(await hub.sent(state="open", limit=5)) == 2
    assert str(server.asked[-1]) == "GET /v1/messages?state=open&limit=5"


async def test_a_record_goes_back_to_json_as_it_came(server: ScriptedHub, hub: AsyncHub) -> None:
    server.script(GET, Reply(200, {"message": replied()}))
    kept = {name: value for name, value in replied().items() if value not in ("followUp", 0, 5)}
    assert (await hub.get("msg_1")).as_json() == kept


@pytest.mark.parametrize("target", ["../x", "a/b?c", "é", "%2e"])
async def test_an_id_cannot_leave_its_place_in_the_path(server: ScriptedHub, hub: AsyncHub, target: str) -> None:
    server.script(GET, Reply(200, {"message": message()}))
    with pytest.raises(PeerlineError):
        await hub.get(target)
    assert server.asked[-1].path.count("/") == 3
    assert "?" not in server.asked[-1].path


@pytest.mark.parametrize(("content", "kind"), [("\ud800", Invalid), ("x" * 300_000, TooLarge)])
async def test_what_cannot_be_sent_is_refused_before_it_is_sent(
    server: ScriptedHub, hub: AsyncHub, content: str, kind: type[PeerlineError]
) -> None:
    with pytest.raises(kind):
        await hub.send("reviewer", content)
    assert not server.of(SEND)


async def test_a_token_with_a_line_end_never_reaches_the_wire_nor_the_error(server: ScriptedHub, world: World) -> None:
    with pytest.raises(Invalid, match="authorization") as caught:
        await a_hub(server, world, token="a\r\nx-evil: 1").start()
    assert "evil" not in str(caught.value)
    assert server.asked == []


async def test_a_fan_out_asks_each_once_and_tells_of_each(server: ScriptedHub, hub: AsyncHub, world: World) -> None:
    server.script(SEND, Reply(202, {"message": message()}))
    server.script(GET, Reply(200, {"message": replied("plan")}))
    (done,) = await hub.fanout([" Reviewer", "reviewer"], "plan", idempotency_key_prefix="p")
    assert (done.target, done.status, done.message_id) == ("reviewer", "replied", "msg_1")
    (sent,) = server.of(SEND)
    assert (sent.body["delivery"], len(sent.body["idempotencyKey"])) == ("followUp", 71)


async def test_a_fan_out_tells_refused_and_open_ones_apart(server: ScriptedHub, hub: AsyncHub) -> None:
    server.script(
        SEND, refuse(404, "target_not_found", "online target not found: a"), Reply(202, {"message": message()})
    )
    server.script(GET, Reply(200, {"message": message("delivered")}))
    answers = await hub.fanout(["a", "b"], "plan", timeout_s=0.9)
    by_status = {each.status: each.as_json() for each in answers}
    assert by_status["error"]["error"] == "online target not found: a"
    assert {k: v for k, v in by_status["pending"].items() if k != "target"} == {
        "messageId": "msg_1",
        "status": "pending",
        "messageStatus": "delivered",
        "expiresAt": "2026-01-02T10:00:00.000Z",
        "waitStatus": "timed_out",
    }


@pytest.mark.parametrize("call", [lambda hub: hub.inbox(), lambda hub: hub.get("msg_1")])
async def test_a_call_before_the_start_says_so(
    server: ScriptedHub, world: World, call: Callable[[AsyncHub], Any]
) -> None:
    with pytest.raises(RuntimeError, match="not started"):
        await call(a_hub(server, world))
