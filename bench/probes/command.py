"""P10: whole processes of the commands that agents call often, beside a Python that does nothing."""

import json
import subprocess
import urllib.request
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any, Final

from bench.probes.timing import timed
from bench.run import Failed, Run
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
            env = hub.user(folder, server, "asker")
            timed([programs / "kxm", "peer", "list"], env, folder)
            _register(server.address)
            kxm = programs / "kxm"
            _brief(kxm, env, folder)
            commands: dict[str, list[str | Path]] = {
                "python": [programs / "python3", "-c", "pass"],
                "version": [kxm, "--version"],
                "send": [kxm, "peer", "send", "--target", "answerer", "--content", "hello"],
                "hook": [kxm, "hook", "session-start"],
            }
            took: dict[str, list[float]] = {name: [] for name in commands}
            for _ in range(5 if run.quick else TIMES):
                for name, command in commands.items():
                    took[name].append(timed(command, env, folder))
        return {Reading("command", name, "ms"): median(times) * 1000 for name, times in took.items()}


def _register(address: dict[str, Any]) -> None:
    """The recipient: online for the half minute of its lease, in which all sends are done. It has asked for something,
    so that the hook has a request to name."""
    proof = {"authorization": f"Bearer {address['token']}"}
    made = _posted(address, "/v1/agents/register", {"name": "answerer", "project": "bench"}, proof)
    proof |= {"x-kxm-agent-id": made["agent"]["id"], "x-kxm-agent-key": made["agentKey"]}
    _posted(address, "/v1/messages", {"target": "asker", "content": "hello", "allowOffline": True}, proof)


def _posted(address: dict[str, Any], path: str, body: dict[str, Any], proof: dict[str, str]) -> Any:
    url = f"http://127.0.0.1:{address['port']}{path}"
    headers = {"content-type": "application/json", **proof}
    with urllib.request.urlopen(urllib.request.Request(url, json.dumps(body).encode(), headers), timeout=10) as answer:
        return json.load(answer)


def _brief(kxm: Path, env: dict[str, str], folder: Path) -> None:
    """Raises: Failed: the hook has nothing to say, so that its time would be no figure."""
    command: list[str | Path] = [kxm, "hook", "session-start"]
    said = subprocess.run(command, env=env, cwd=folder, input=b"{}", capture_output=True, timeout=60, check=False)
    if b"msg_" not in said.stdout:
        raise Failed(f"kxm hook session-start names no request: {(said.stdout + said.stderr).decode()[-400:]}")
