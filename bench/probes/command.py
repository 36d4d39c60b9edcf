"""P10: whole processes of the commands that agents call often, beside a Python that does nothing."""

import json
import os
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.probes.timing import timed
from bench.run import Run
from bench.servers import hub
from bench.targets import Reading

TIMES: Final = 30


class Commands:
    """Console scripts of a wheel installed with compiled files, one after another in turn."""

    def packages(self) -> list[str]:
        return []

    def prepare(self, run: Run) -> None:
        pass

    def measure(self, run: Run, loads: Sequence[str]) -> dict[Reading, float]:
        programs = run.product
        with run.folder() as folder, hub.start(folder, {}, programs) as server:
            env = _user(folder, server.address["port"])
            timed([programs / "kxm", "peer", "list"], env, folder)
            _register(server.address)
            kxm = programs / "kxm"
            commands: dict[str, list[str | Path]] = {
                "python": [programs / "python3", "-c", "pass"],
                "version": [kxm, "--version"],
                "send": [kxm, "peer", "send", "--target", "answerer", "--content", "hello"],
            }
            took: dict[str, list[float]] = {name: [] for name in commands}
            for _ in range(5 if run.quick else TIMES):
                for name, command in commands.items():
                    took[name].append(timed(command, env, folder))
        return {Reading("command", name, "ms"): median(times) * 1000 for name, times in took.items()}


def _user(folder: Path, port: int) -> dict[str, str]:
    """A person on the hub's machine who named only the project and the agent: the token comes over the socket."""
    env = {name: value for name, value in os.environ.items() if not name.startswith("KXM_")}
    env |= {"KXM_STATE_HOME": str(folder / "state"), "KXM_SERVER_URL": f"http://127.0.0.1:{port}"}
    return env | {"KXM_PROJECT": "bench", "KXM_AGENT_NAME": "asker"}


def _register(address: dict[str, Any]) -> None:
    """The recipient: online for the half minute of its lease, in which all sends are done."""
    request = urllib.request.Request(
        f"http://127.0.0.1:{address['port']}/v1/agents/register",
        json.dumps({"name": "answerer", "project": "bench"}).encode(),
        {"content-type": "application/json", "authorization": f"Bearer {address['token']}"},
    )
    with urllib.request.urlopen(request, timeout=10) as answer:
        assert answer.status == 201
