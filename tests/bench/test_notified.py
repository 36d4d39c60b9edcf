"""The probe of the notification line on a real hub and a real `kxm mcp`: which figures it gives, never how large."""

import asyncio
from pathlib import Path

from bench.notified import PROJECT, RECIPIENT, measure

from tests.hub_process import KXM, HubProcess, environment


def test_each_send_is_matched_with_its_line_and_a_round_trip_stands_beside(
    hub_process: HubProcess, tmp_path: Path
) -> None:
    env = environment(
        tmp_path / "user",
        KXM_SERVER_URL=hub_process.url,
        KXM_AUTH_TOKEN=hub_process.admin,
        KXM_PROJECT=PROJECT,
        KXM_AGENT_NAME=RECIPIENT,
    )
    address = {"port": hub_process.address[1], "token": hub_process.admin, "run": 0}
    job = {"address": address, "command": [*KXM, "mcp"], "env": env, "folder": str(tmp_path), "warm_up": 1, "times": 2}
    found = asyncio.run(measure(job))
    assert set(found) == {"line.p50", "line.p99", "trip.p50", "trip.p99"}
    assert all(figure > 0 for figure in found.values())
    assert found["line.p50"] <= found["line.p99"]
