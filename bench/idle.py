"""The second load process of P8: opens idle streams to a hub, says that they stand, and holds them while it may.

Runs in the bench's own environment as `python -m bench.idle '<address as JSON>'`. Sources are spread over 127.0.0.2 and
up, a thousand streams each, so that no address runs out of ports.
"""

import asyncio
import json
import sys
from typing import Any

import uvloop

from bench.drivers.hub import Agent

AT_ONCE = 64
AGENTS_A_PROJECT = 10


async def hold(address: dict[str, Any]) -> None:
    agents = [
        Agent(
            address["port"],
            address["token"],
            f"idle-{number // AGENTS_A_PROJECT}",
            f"agent-{number}",
            source=f"127.0.0.{2 + number // 1000}",
        )
        for number in range(address["streams"])
    ]
    await _all(agents, _register)
    await _say("registered")
    await _all(agents, lambda agent: agent.subscribe(lambda name, data: None))
    await _say("open")


async def _register(agent: Agent) -> None:
    """Closes its connection at once: memory that 10,000 open ones leave behind would hide what streams take."""
    await agent.register()
    agent.requests.transport.close()


async def _all(agents: list[Agent], act: Any) -> None:
    waiting = iter(agents)

    async def one_after_another() -> None:
        for agent in waiting:
            await act(agent)

    async with asyncio.TaskGroup() as tasks:
        for _ in range(AT_ONCE):
            tasks.create_task(one_after_another())


async def _say(word: str) -> None:
    """Tell the bench and wait for its line: it looks at the hub's memory meanwhile."""
    print(word, flush=True)
    await _line()


async def _line() -> None:
    await asyncio.get_running_loop().run_in_executor(None, sys.stdin.readline)


if __name__ == "__main__":
    uvloop.run(hold(json.loads(sys.argv[1])))
