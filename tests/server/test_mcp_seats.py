"""When an agent that came through `/mcp` is there: on a real hub in this process, and a clock of the test's own."""

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import replace

import pytest

from peerline.cli.wiring import Hub
from peerline.client.surroundings import Surroundings
from peerline.core.ids import AgentId
from peerline.database.checkpoint import Checkpoints
from peerline.database.connection import open_writer
from peerline.database.migrations import migrate
from peerline.server.mcp_http import Wanted
from peerline.server.mcp_seats import IDLE_S, Seats
from peerline.settings import HubSettings
from peerline.store.migrations import MIGRATIONS
from peerline.wire.tools import BY_NAME

pytestmark = pytest.mark.anyio
ME = Wanted(project="shop", token=None, name="me", purpose="", tools="core", address="127.0.0.1", host="localhost:7331")


@asynccontextmanager
async def seated(now: list[float]) -> AsyncIterator[tuple[Hub, Seats]]:
    connection = open_writer(":memory:")
    migrate(connection, MIGRATIONS, None, None)
    hub = Hub(HubSettings(data_path=":memory:"), connection, Checkpoints(":memory:"), lambda entry: None, None)
    hub._loop = asyncio.get_running_loop()
    seats = Seats(hub.application(), hub.agents, hub.wakeups, Surroundings(now=lambda: now[0]))
    try:
        yield hub, seats
    finally:
        await seats.close()
        ended = asyncio.Event()
        hub.writer.close(ended.set)
        await ended.wait()
        hub.committer.stop()
        connection.close()


async def listed(seats: Seats, who: Wanted = ME) -> AgentId:
    result = await seats.call(who, "mcp", BY_NAME["kxm_list"], {}, None)
    assert not result.is_error, result.texts
    (me,) = [agent for agent in json.loads(result.texts[0])["agents"] if agent.get("you")]
    return AgentId(me["id"])


async def test_an_agent_that_is_silent_for_long_goes_and_comes_back_as_the_same_one() -> None:
    now = [0.0]
    async with seated(now) as (hub, seats):
        me = await listed(seats)
        now[0] = IDLE_S - 1
        await seats.sweep()
        assert hub.agents.presence(me) == "online"
        now[0] = IDLE_S
        await seats.sweep()
        assert hub.agents.presence(me) == "offline"
        assert await listed(seats) == me
        assert hub.agents.presence(me) == "online"


async def test_an_open_stream_keeps_it_there() -> None:
    now = [0.0]
    async with seated(now) as (hub, seats):
        me = await listed(seats)
        with seats.streaming(ME):
            now[0] = 10 * IDLE_S
            await seats.sweep()
            assert hub.agents.presence(me) == "online"
        now[0] += IDLE_S
        await seats.sweep()
        assert hub.agents.presence(me) == "offline"


async def test_when_all_seats_are_taken_one_that_went_away_makes_room(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("peerline.server.mcp_seats.SEATS", 1)
    now = [0.0]
    other = replace(ME, name="other")
    async with seated(now) as (_, seats):
        me = await listed(seats)
        refused = await seats.call(other, "mcp", BY_NAME["kxm_list"], {}, None)
        assert (refused.is_error, "come back later" in refused.texts[0]) == (True, True)
        now[0] = IDLE_S
        await seats.sweep()
        await listed(seats, other)
        now[0] += IDLE_S
        await seats.sweep()
        assert await listed(seats) == me
