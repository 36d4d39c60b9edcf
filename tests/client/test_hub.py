"""The blocking client: the same calls, on a thread of its own."""

import asyncio
import inspect
import signal
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from peerline.client.async_hub import AsyncHub
from peerline.client.hub import Hub
from peerline.client.refusals import TimedOut, Unreachable
from peerline.core.errors import TargetNotFound
from tests.client.scripted_hub import Reply, ScriptedHub, World, agent, frame, message, refuse, replied, stream

PUBLIC = [name for name, _ in inspect.getmembers(AsyncHub) if not name.startswith("_")]


@pytest.fixture
def server() -> Iterator[ScriptedHub]:
    """A scripted hub on a loop of its own, since the test itself blocks."""
    loop = asyncio.new_event_loop()
    thread = threading.Thread(target=loop.run_forever)
    thread.start()
    hub = ScriptedHub()
    asyncio.run_coroutine_threadsafe(hub.__aenter__(), loop).result()
    yield hub
    asyncio.run_coroutine_threadsafe(hub.__aexit__(None, None, None), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    thread.join()
    loop.close()


def a_hub(server: ScriptedHub, **options: Any) -> Hub:
    return Hub(server.url, project="demo", name="lead", surroundings=World().surroundings, **options)


@pytest.mark.parametrize("name", PUBLIC)
def test_every_call_has_the_same_signature_in_both(name: str) -> None:
    theirs, ours = getattr(AsyncHub, name), getattr(Hub, name)
    if isinstance(theirs, property):
        assert isinstance(ours, property)
        return
    assert inspect.signature(theirs).parameters == inspect.signature(ours).parameters


def test_the_constructors_agree() -> None:
    assert inspect.signature(AsyncHub).parameters == inspect.signature(Hub).parameters


def test_it_asks_waits_and_leaves(server: ScriptedHub) -> None:
    server.script("POST /v1/messages", Reply(202, {"message": message(), "idempotent": False}))
    server.script("GET /v1/messages/msg_1", Reply(200, {"message": replied("fine")}))
    with a_hub(server) as hub:
        done = hub.ask("reviewer", "look", timeout_s=5, correlation_id="c")
        assert done.reply is not None
        assert (hub.agent.id, done.reply.content) == ("agt_1", "fine")
    assert str(server.asked[-1]) == "DELETE /v1/agents/agt_1"


def test_refusals_and_time_outs_reach_the_caller(server: ScriptedHub) -> None:
    server.script("POST /v1/messages", refuse(404, "target_not_found", "online target not found: x"))
    server.script("GET /v1/messages/msg_1", Reply(200, {"message": message()}))
    with a_hub(server) as hub:
        with pytest.raises(TargetNotFound, match="online target not found: x"):
            hub.send("x", "look")
        with pytest.raises(TimedOut):
            hub.wait("msg_1", 0)


def test_a_start_that_fails_leaves_no_thread(server: ScriptedHub) -> None:
    hub = Hub("unix:/nowhere.sock", project="demo", name="lead", surroundings=World().surroundings)
    with pytest.raises(Unreachable):
        hub.start()
    assert not [thread for thread in threading.enumerate() if thread.name == "peerline client"]
    hub.stop()


def test_stopping_twice_is_fine_and_calls_after_it_say_so(server: ScriptedHub) -> None:
    hub = a_hub(server)
    hub.start()
    hub.stop()
    hub.stop()
    with pytest.raises(RuntimeError, match="not started"):
        hub.inbox()


def test_it_can_be_started_again(server: ScriptedHub) -> None:
    hub = a_hub(server)
    for _ in range(2):
        hub.start()
        hub.stop()
    assert len(server.of("DELETE /v1/agents/agt_1")) == 2


def test_events_are_iterated_and_the_stream_ends_with_the_loop(server: ScriptedHub) -> None:
    ready = frame("ready", {"agent": agent()}, "1")
    server.script("GET /v1/events", stream(ready, frame("reply", {"type": "reply", "message": replied()}, "2")))
    with a_hub(server) as hub:
        events = hub.events()
        assert next(events).type == "reply"
        events.close()
        server.script("GET /v1/agents", Reply(200, {"agents": [agent()]}))
        assert len(hub.agents()) == 1


def test_an_interrupt_while_the_stream_waits_leaves_a_client_that_works(server: ScriptedHub) -> None:
    server.script("GET /v1/events", stream(frame("ready", {"agent": agent()}, "1")))
    server.script("GET /v1/agents", Reply(200, {"agents": [agent()]}))
    main = threading.main_thread().ident
    assert main is not None

    def interrupt() -> None:
        asyncio.run_coroutine_threadsafe(server.until("GET /v1/events"), server.loop).result(30)
        signal.pthread_kill(main, signal.SIGINT)

    with a_hub(server) as hub:
        interrupting = threading.Thread(target=interrupt)
        interrupting.start()
        with pytest.raises(KeyboardInterrupt):
            next(hub.events())
        interrupting.join()
        assert len(hub.agents()) == 1
