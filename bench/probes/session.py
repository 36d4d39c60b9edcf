"""P11: `kxm mcp` from the start of its process to the initialize answer, and its memory, beside the official SDK."""

import asyncio
import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

from bench.conversation import HELLO, started
from bench.proc import resident_bytes
from bench.run import Failed, Run
from bench.servers import hub
from bench.targets import Reading

TIMES: Final = 15
SDK: Final = Path(__file__).parents[1] / "servers" / "mcp_sdk.py"


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """`ms` from start to the initialize answer; `mb` and `tools` when the session is at work."""

    ms: float
    mb: float
    tools: list[dict[str, Any]]


class AgentSessions:
    """One after another in turn, each a new process, as a client starts it; the hub runs."""

    def packages(self) -> list[str]:
        return []

    def prepare(self, run: Run) -> None:
        pass

    def measure(self, run: Run, loads: Sequence[str]) -> dict[Reading, float]:
        with run.folder() as folder, hub.start(folder, {}, run.product) as server:
            env = hub.user(folder, server, "asker")
            kxm: list[str | Path] = [run.product / "kxm", "mcp"]
            first, table = _session(kxm, env, folder), folder / "tools.json"
            table.write_text(json.dumps({"tools": first.tools}))
            sdk: list[str | Path] = [run.clients / "python", "-P", SDK, table]
            if _session(sdk, dict(os.environ), folder).tools != first.tools:
                raise Failed("the SDK's server lists other tools than kxm mcp")
            found: dict[str, list[Session]] = {"kxm": [], "sdk": []}
            for _ in range(3 if run.quick else TIMES):
                found["kxm"].append(_session(kxm, env, folder))
                found["sdk"].append(_session(sdk, dict(os.environ), folder))
        times = {Reading("session", name, "ms"): median(one.ms for one in all_) for name, all_ in found.items()}
        return times | {Reading("session", name, "mb"): median(one.mb for one in all_) for name, all_ in found.items()}


def _session(command: Sequence[str | Path], env: dict[str, str], folder: Path) -> Session:
    return asyncio.run(_spoken(command, env, folder))


async def _spoken(command: Sequence[str | Path], env: dict[str, str], folder: Path) -> Session:
    began = perf_counter()
    async with started(command, env, folder) as session:
        await session.ask("initialize", **HELLO)
        ms = (perf_counter() - began) * 1000
        session.notify("notifications/initialized")
        tools = (await session.ask("tools/list"))["tools"]
        await session.call("kxm_list")  # ours is registered by now, and listens
        return Session(ms=ms, mb=resident_bytes(session.pid) / 1e6, tools=tools)
