"""Hub time: a wall clock that jumps and jumps back expires nothing."""

import pytest

from peerline.core.message import Status
from tests.hub.parts import Parts


@pytest.mark.anyio
async def test_a_jump_that_is_taken_back_within_a_minute_expires_nothing(hub: Parts) -> None:
    lead = hub.agent("lead")
    hub.agent("reviewer")
    sent = hub.send(lead, "reviewer", ttl_ms=604_800_000)
    hub.time.jump(8 * 86_400)
    for _ in range(5):
        hub.time.step(10)
        await hub.sweeper.sweep()
    hub.time.jump(-8 * 86_400)
    hub.time.step(120)
    await hub.sweeper.sweep()
    assert hub.messages.get(sent.id, lead).result().status == Status.QUEUED


@pytest.mark.anyio
async def test_a_jump_that_lasts_is_adopted_after_a_minute(hub: Parts) -> None:
    before = hub.now()
    hub.time.jump(3_600)
    hub.clock.look()
    hub.time.step(59)
    hub.clock.look()
    assert hub.now() - before < 60_000
    hub.time.step(2)
    hub.clock.look()
    assert hub.now() - before == 3_661_000


def test_a_step_back_never_makes_leases_longer(hub: Parts) -> None:
    agent = hub.agent("reviewer")
    hub.time.jump(-3_600)
    hub.time.step(31)
    hub.agents.sweep()
    assert hub.agents.presence(agent.id) == "offline"
