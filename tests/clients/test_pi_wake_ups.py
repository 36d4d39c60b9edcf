"""Pi, idle: a request becomes a turn, and the reply to what it asked wakes it."""

from pathlib import Path

import pytest

from tests.clients.model.endpoint import Endpoint
from tests.clients.pi import Pi
from tests.clients.wake_ups import WAKE_UPS, WakeUps, script
from tests.hub_process import HubProcess, Project

SCRIPT = script(
    r"(?=from: lead[0-9]+; request: (msg_[0-9a-f]{32}))from: (lead[0-9]+)",
    r"replied to your request\. Read it: kxm_get with messageId \"(msg_[0-9a-f]{32})",
    settles=True,
)


@pytest.mark.timeout(60 + 10 * WAKE_UPS)
def test_a_request_wakes_an_idle_session_and_the_reply_wakes_the_asker(
    hub: HubProcess, model: Endpoint, shop: Project, tmp_path: Path
) -> None:
    model.script = SCRIPT
    with shop.register("watcher").stream() as stream, Pi(tmp_path / "user", hub, model) as pi:
        while stream.next("presence").data["agent"]["name"] != pi.name:
            pass
        rounds = WakeUps("Pi", model, shop, body=True, prompt=pi.prompt)
        for _ in range(WAKE_UPS):
            assert {"acknowledged", "announced", "in turn", "replied"} <= rounds.round()
    assert model.faults == []
