"""Peerline's hub as a user starts it: the foreground command, a state folder of its own, the default settings.

Only two limits are lifted, since such a load is what they are there to stop: 600 requests a minute, and 12 requests in
10 minutes between two agents without a person's turn.
"""

import json
import urllib.request
from pathlib import Path
from typing import Final

from bench.servers.process import Process, surroundings

TOKEN: Final = "bench-token-that-opens-only-this-hub"
LISTENING: Final = "kxm hub listening at http://127.0.0.1:"


def start(folder: Path, env: dict[str, str], programs: Path) -> Process:
    settings = {"KXM_PORT": "0", "KXM_STATE_HOME": str(folder / "state"), "KXM_AUTH_TOKEN": TOKEN}
    settings |= {"KXM_RATE_LIMIT_MAX": str(10**9), "KXM_PAIR_LIMIT": "0"}
    server = Process([str(programs / "kxm"), "hub", "start"], folder / "log", env={**settings, **env})
    server.wait_until(lambda: ready(server))
    return server


def ready(server: Process) -> bool:
    """It has named its port and answers that it is ready."""
    said = server.output()
    at = said.find(LISTENING)
    if at < 0 or "\n" not in said[at:]:
        return False
    port = int(said[at + len(LISTENING) :].split(";")[0].strip())
    with urllib.request.urlopen(f"http://127.0.0.1:{port}/ready", timeout=5) as answer:
        assert json.load(answer)["ok"]
    server.address = {"port": port, "token": TOKEN, "run": 0}
    return True


def user(folder: Path, server: Process, agent: str) -> dict[str, str]:
    """A person on the hub's machine who named only the project and the agent: the token comes over the socket."""
    env = surroundings() | {"KXM_STATE_HOME": str(folder / "state")}
    env["KXM_SERVER_URL"] = f"http://127.0.0.1:{server.address['port']}"
    return env | {"KXM_PROJECT": "bench", "KXM_AGENT_NAME": agent}
