"""R33: a crowd behind one address, a flood of unknown tokens: each agent keeps its allowance, memory is bounded."""

import asyncio
import re
import sys
from collections import Counter
from pathlib import Path

import pytest

from .connection import Connection
from .peers import admit
from .victim import Victim, started

AGENTS = 1_000
LANES = 20
GROWTH_MOST_KB = 40 * 1024


def resident_kb(hub: Victim) -> int:
    status = Path(f"/proc/{hub.process.pid}/status").read_text()
    return int(re.search(r"VmRSS:\s+(\d+)", status)[1])  # type: ignore[index]


@pytest.mark.slow
def test_of_a_thousand_agents_behind_one_address_each_has_its_own_allowance(tmp_path: Path) -> None:
    async def crowd(hub: Victim) -> Counter[int]:
        seen: Counter[int] = Counter()

        async def lane(which: int) -> None:
            # Registering is charged to the address, so each lane has one of its own.
            connection = Connection(hub.port, f"127.0.1.{which + 1}")
            for number in range(which, AGENTS, LANES):
                headers = await admit(connection, f"agent-{number}")
                inbox = f"/v1/agents/{headers['x-kxm-agent-id']}/inbox"
                for _ in range(5):
                    seen[(await connection.ask("GET", inbox, None, headers)).status] += 1
            connection.close()

        await asyncio.gather(*map(lane, range(LANES)))
        return seen

    with started(tmp_path, settings={"KXM_RATE_LIMIT_MAX": "60"}) as hub:
        assert asyncio.run(crowd(hub)) == {200: 5 * AGENTS}


@pytest.mark.parametrize("tokens", [1_000, pytest.param(10_000, marks=pytest.mark.slow)])
def test_a_flood_of_unknown_tokens_stops_itself_only_and_costs_little(tmp_path: Path, tokens: int) -> None:
    if sys.platform != "linux":
        pytest.skip("needs /proc, and source addresses all over 127.0.0.0/8")

    async def flood(hub: Victim) -> tuple[Counter[int], int]:
        seen: Counter[int] = Counter()
        honest = Connection(hub.port, "127.0.9.9")
        headers = await admit(honest, "honest")

        async def lane(which: int) -> None:
            connection = Connection(hub.port, f"127.0.2.{which + 1}")
            for number in range(which, tokens, LANES):
                bad = {
                    "authorization": f"Bearer unknown-{number}",
                    "x-kxm-agent-id": f"agt_{number}",
                    "x-kxm-agent-key": "k",
                    "x-forwarded-for": f"203.0.113.{number % 250}",
                }
                seen[(await connection.ask("GET", "/v1/agents", None, bad)).status] += 1
            connection.close()

        before = resident_kb(hub)
        lanes = [asyncio.create_task(lane(which)) for which in range(LANES)]
        while any(not one.done() for one in lanes):
            if (answer := await honest.ask("GET", "/ready", None, headers)).status != 200:
                raise AssertionError(answer.body)
            await asyncio.wait(lanes, timeout=0.05)
        assert (await honest.ask("GET", "/v1/agents", None, headers)).status == 200
        honest.close()
        return seen, resident_kb(hub) - before

    with started(tmp_path, settings={"KXM_RATE_LIMIT_MAX": "30"}) as hub:
        seen, grown = asyncio.run(flood(hub))
    assert set(seen) == {401, 429}
    assert seen[401] == LANES * 30
    assert grown <= GROWTH_MOST_KB
