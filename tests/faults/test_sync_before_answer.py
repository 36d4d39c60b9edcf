"""The proof that "answered" means "on disk": with every fsync slowed by 300 ms, no change is answered sooner."""

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator

import pytest

from .connection import Answer, Connection
from .peers import admit
from .shim import compiled
from .victim import Victim, started

DELAY_S = 0.3
AT_ONCE = 50


@pytest.fixture(scope="module")
def hub(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Victim]:
    tmp_path = tmp_path_factory.mktemp("slow-sync")
    library = compiled("slow_sync", tmp_path)
    slow = {"LD_PRELOAD": str(library), "FAULT_SYNC_MS": str(round(DELAY_S * 1000))}
    with started(tmp_path, settings=slow) as hub:
        yield hub


async def timed(asked: Awaitable[Answer]) -> tuple[Answer, float]:
    began = time.monotonic()
    answer = await asked
    return answer, time.monotonic() - began


def test_no_change_is_answered_before_it_is_on_disk(hub: Victim, say: Callable[[str], None]) -> None:
    took: dict[str, float] = {}

    async def changes() -> None:
        connection = hub.connection()
        alice, bob = await admit(connection, "alice"), await admit(connection, "bob")

        async def change(name: str, method: str, path: str, body: dict[str, object] | None, who: dict[str, str]) -> str:
            answer, took[name] = await timed(connection.ask(method, path, body, who))
            assert answer.status < 300, (name, answer.body)
            return str(answer.json().get("message", {}).get("id", ""))

        task: dict[str, object] = {"target": "bob", "content": "task"}
        first = await change("send", "POST", "/v1/messages", task, alice)
        await change("acknowledge", "POST", f"/v1/messages/{first}/ack", {}, bob)
        await change("note", "POST", f"/v1/messages/{first}/notes", {"content": "half"}, bob)
        await change("reply", "POST", f"/v1/messages/{first}/reply", {"content": "done"}, bob)
        second = await change("send again", "POST", "/v1/messages", task, alice)
        await change("cancel", "DELETE", f"/v1/messages/{second}", None, alice)
        await change("lease", "POST", "/v1/leases/port/acquire", {}, alice)
        registering: dict[str, object] = {"name": "carol", "project": "faults"}
        await change("register", "POST", "/v1/agents/register", registering, {"authorization": alice["authorization"]})
        connection.close()

    asyncio.run(changes())
    say(", ".join(f"{name} {seconds * 1000:.0f} ms" for name, seconds in took.items()))
    assert {name: seconds for name, seconds in took.items() if seconds < DELAY_S} == {}


def test_fifty_changes_at_once_share_about_two_delays(hub: Victim, say: Callable[[str], None]) -> None:
    async def at_once() -> float:
        connections = [Connection(hub.port) for _ in range(AT_ONCE)]
        dora, _ = await admit(connections[0], "dora"), await admit(connections[0], "emil")
        for connection in connections:  # all are open before the clock starts
            await connection.ask("GET", "/health")
        began = time.monotonic()
        sends = [
            timed(connection.ask("POST", "/v1/messages", {"target": "emil", "content": f"task {n}"}, dora))
            for n, connection in enumerate(connections)
        ]
        answers = await asyncio.gather(*sends)
        whole = time.monotonic() - began
        assert [answer.status for answer, _ in answers] == [202] * AT_ONCE
        assert min(seconds for _, seconds in answers) >= DELAY_S
        for connection in connections:
            connection.close()
        return whole

    whole = asyncio.run(at_once())
    say(f"{AT_ONCE} sends at once in {whole / DELAY_S:.1f} delays")
    assert whole < 4.5 * DELAY_S  # one by one they would take fifty
