"""Sends to an agent session and waits for the line on its stdout, in turn with round trips of one pair; prints one
JSON line.

Runs in the bench's own environment as `python -m bench.notified '<job as JSON>'`.
"""

import asyncio
import json
import sys
from pathlib import Path
from time import perf_counter
from typing import Any, Final

import uvloop

from bench.conversation import HELLO, Conversation, started
from bench.drive import spread
from bench.drivers.hub import Agent, Pair
from bench.run import Failed
from bench.targets import LOADS
from bench.window import Window

PROJECT: Final = "bench"
RECIPIENT: Final = "answerer"
CHANNEL: Final = "notifications/claude/channel"
END_WITHIN_S: Final = 20


class Sender:
    """Its requests, one at a time; `replied` waits for the end of the last one."""

    def __init__(self, address: dict[str, Any], body: int) -> None:
        self._agent = Agent(address["port"], address["token"], PROJECT, "asker")
        self._body = "x" * body
        self._sent = self._reply = asyncio.Event()

    async def open(self) -> None:
        await self._agent.open(self._happened)

    def send(self, correlation: str) -> float:
        """When it began."""
        self._sent, self._reply = asyncio.Event(), asyncio.Event()
        fields = {"target": RECIPIENT, "content": self._body, "correlationId": correlation}
        request = self._agent.post("/v1/messages", fields)
        began = perf_counter()
        self._agent.requests.send(request, self._answered)
        return began

    async def replied(self) -> None:
        async with asyncio.timeout(END_WITHIN_S):
            await self._sent.wait()
            await self._reply.wait()

    def close(self) -> None:
        self._agent.close()

    def _answered(self, status: int, body: bytes) -> None:
        if status == 202:
            self._sent.set()
        else:
            print(f"send: {status} {body[:300]!r}", file=sys.stderr)  # the line will not come, which ends the run

    def _happened(self, name: bytes, data: bytes) -> None:
        if name == b"reply":
            self._reply.set()


async def notified(sender: Sender, session: Conversation, number: int) -> float:
    """Seconds from the send to the line; then the request is answered, so that nothing of it is left to do."""
    began = sender.send(f"bench-{number}")
    params = await session.told(CHANNEL)
    took = perf_counter() - began
    if params["meta"].get("correlation_id") != f"bench-{number}":
        raise Failed(f"another request than the one sent: {params['meta']}")
    await session.call("kxm_reply", messageId=params["meta"]["message_id"], content="done")
    await sender.replied()
    return took


async def round_trip(pair: Pair) -> float:
    window, done = Window(), asyncio.get_running_loop().create_future()
    window.open()
    window.going = False  # the first is the last
    pair.start(window, done)
    await asyncio.wait_for(done, END_WITHIN_S)
    return window.latencies[0]


async def measure(job: dict[str, Any]) -> dict[str, float]:
    body = LOADS["1"].body
    sender, pair = Sender(job["address"], body), Pair(job["address"], 0, body)
    lines: list[float] = []
    trips: list[float] = []
    async with started(job["command"], job["env"], Path(job["folder"])) as session:
        await session.ask("initialize", **HELLO)
        session.notify("notifications/initialized")
        await session.call("kxm_list")  # it is registered, and listens
        await sender.open()
        await pair.open()
        for number in range(job["warm_up"] + job["times"]):
            lines.append(await notified(sender, session, number))
            trips.append(await round_trip(pair))
        sender.close()
        pair.close()
    found = {"line": spread(lines[job["warm_up"] :]), "trip": spread(trips[job["warm_up"] :])}
    return {f"{what}.{metric}": figure for what, all_ in found.items() for metric, figure in all_.items()}


def main() -> None:
    print(json.dumps(uvloop.run(measure(json.loads(sys.argv[1])))), flush=True)


if __name__ == "__main__":
    main()
