"""Thousands of agents with a stream each, in a process of its own (the test's process has no descriptors to spare).

Arguments: port, number of streams. Commands on stdin, one answer line each on stdout:
register          every agent registers                      -> registered N
send              the first agent sends one task to each     -> sent N, slowest S
open              every stream opens and says `ready`        -> open N, took S
moved PORT        all streams have ended and come back, each with its task -> back N, offered N, took S
count             streams that are open now                  -> open N
"""

import asyncio
import random
import sys
import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[2]))

from tests.faults.connection import Connection, Gone, frames
from tests.faults.peers import admit

AT_ONCE = 200
JITTER_S = 10.0


@dataclass(slots=True)
class Agent:
    name: str
    source: str
    headers: dict[str, str] = field(default_factory=dict)
    open: bool = False
    ended: bool = False
    offered: set[str] = field(default_factory=set)
    task: str = ""


@dataclass(slots=True)
class Storm:
    port: int
    agents: list[Agent]
    changed: asyncio.Event = field(default_factory=asyncio.Event)
    streams: list["asyncio.Task[None]"] = field(default_factory=list)
    ending: "asyncio.Future[None]" = field(default_factory=lambda: asyncio.get_running_loop().create_future())

    async def each(self, work: Callable[[Agent], Awaitable[None]]) -> None:
        gate = asyncio.Semaphore(AT_ONCE)

        async def one(agent: Agent) -> None:
            async with gate:
                await work(agent)

        async with asyncio.TaskGroup() as tasks:
            for agent in self.agents:
                tasks.create_task(one(agent))

    async def register(self) -> str:
        async def one(agent: Agent) -> None:
            connection = Connection(self.port, agent.source)
            agent.headers = await admit(connection, agent.name)
            connection.close()

        await self.each(one)
        return f"registered {sum(bool(agent.headers) for agent in self.agents)}"

    async def send(self) -> str:
        sender = self.agents[0]
        slowest = 0.0

        async def one(agent: Agent) -> None:
            nonlocal slowest
            if agent is sender:
                return
            connection = Connection(self.port, agent.source)
            body: dict[str, object] = {"target": agent.name, "content": "task", "allowOffline": True}
            began = time.monotonic()
            answer = await connection.ask("POST", "/v1/messages", body, sender.headers)
            slowest = max(slowest, time.monotonic() - began)
            assert answer.status == 202, answer.body
            agent.task = answer.json()["message"]["id"]
            connection.close()

        await self.each(one)
        return f"sent {sum(bool(agent.task) for agent in self.agents)}, slowest {slowest:.2f}"

    async def _stream(self, agent: Agent) -> None:
        """Reconnects for ever, at first after a random time: full jitter, as our own clients do."""
        tries = 0
        while True:
            port = self.port
            try:
                path = f"/v1/events?agentId={agent.headers['x-kxm-agent-id']}"
                async for frame in frames(port, path, agent.headers, source=agent.source):
                    tries = 0
                    if frame.event == "ready":
                        agent.open = True
                    elif frame.event == "message":
                        agent.offered.add(frame.data["message"]["id"])
                    self.changed.set()
            except Gone:
                pass
            agent.open, agent.ended = False, True
            agent.offered.clear()
            self.changed.set()
            tries += 1
            await asyncio.wait({self.ending}, timeout=random.uniform(0, min(JITTER_S, 0.5 * 2**tries)))

    async def _until(self, all_: Callable[[], bool]) -> float:
        began = time.monotonic()
        while not all_():
            self.changed.clear()
            await self.changed.wait()
        return time.monotonic() - began

    async def open(self) -> str:
        for number, agent in enumerate(self.agents):
            self.streams.append(asyncio.create_task(self._stream(agent)))
            if number % AT_ONCE == AT_ONCE - 1:
                await self._until(lambda: sum(agent.open for agent in self.agents) >= len(self.streams) - AT_ONCE)
        took = await self._until(lambda: all(agent.open for agent in self.agents))
        return f"open {sum(agent.open for agent in self.agents)}, took {took:.1f}"

    async def moved(self, port: int) -> str:
        self.port = port

        def back() -> bool:
            # Some are back before this command is read, others have not seen the end yet.
            return all(
                agent.ended and agent.open and (not agent.task or agent.task in agent.offered) for agent in self.agents
            )

        took = await self._until(back)
        offered = sum(agent.task in agent.offered for agent in self.agents)
        return f"back {sum(agent.open for agent in self.agents)}, offered {offered}, took {took:.1f}"

    async def run(self) -> None:
        reader = asyncio.StreamReader()
        await asyncio.get_running_loop().connect_read_pipe(lambda: asyncio.StreamReaderProtocol(reader), sys.stdin)
        while line := (await reader.readline()).decode().split():
            command, *rest = line
            commands = {"register": self.register, "send": self.send, "open": self.open}
            if command == "moved":
                text = await self.moved(int(rest[0]))
            elif command == "count":
                text = f"open {sum(agent.open for agent in self.agents)}"
            else:
                text = await commands[command]()
            print(text, flush=True)
        for stream in self.streams:
            stream.cancel()


def main() -> None:
    port, count = map(int, sys.argv[1:])
    agents = [Agent(f"agent-{n}", f"127.0.{n % 50}.{1 + n // 50 % 200}") for n in range(count)]

    async def storm() -> None:
        await Storm(port, agents).run()

    asyncio.run(storm())


if __name__ == "__main__":
    main()
