"""From a send to the notification line on the recipient's stdout, beside the hub's own round trip."""

import json
from collections.abc import Sequence
from typing import Final

from bench.run import Run
from bench.servers import hub
from bench.targets import Reading

TIMES: Final = 500
WARM_UP: Final = 20


class Notified:
    """A hub, one `kxm mcp` and one pair, on the state folder of one user."""

    def packages(self) -> list[str]:
        return []

    def prepare(self, run: Run) -> None:
        pass

    def measure(self, run: Run, loads: Sequence[str]) -> dict[Reading, float]:
        with run.folder() as folder, hub.start(folder, {}, run.product) as server:
            job = {
                "address": server.address,
                "command": [str(run.product / "kxm"), "mcp"],
                "env": hub.user(folder, server, "answerer"),
                "folder": str(folder),
                "warm_up": WARM_UP,
                "times": TIMES // 5 if run.quick else TIMES,
            }
            figures = run.client("bench.notified", json.dumps(job), within_s=300)
        return {Reading("notified", *name.split(".")): figure for name, figure in figures.items()}
