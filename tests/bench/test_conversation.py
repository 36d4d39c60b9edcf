"""How the bench speaks to an MCP server, shown with `kxm mcp` and with the SDK's server that it is compared with."""

import asyncio
import json
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pytest
from bench.conversation import HELLO, started
from bench.probes.session import SDK
from bench.run import Failed

from peerline.wire.tools import CORE
from tests.hub_process import KXM, environment

SPEAKS_FIRST = """
import json
request = json.loads(input())
print('{"jsonrpc": "2.0", "method": "notifications/other", "params": {}}')
print('{"jsonrpc": "2.0", "method": "notifications/news", "params": {"number": 1}}')
print(json.dumps({"jsonrpc": "2.0", "id": request["id"], "result": {}}), flush=True)
input()
"""


async def _listed(command: Sequence[str | Path], env: Mapping[str, str], folder: Path) -> list[dict[str, Any]]:
    async with started(command, env, folder) as session:
        await session.ask("initialize", **HELLO)
        session.notify("notifications/initialized")
        tools: list[dict[str, Any]] = (await session.ask("tools/list"))["tools"]
        return tools


def test_the_sdk_server_lists_exactly_the_tools_of_kxm_mcp(tmp_path: Path) -> None:
    env = environment(tmp_path / "user", KXM_PROJECT="bench")
    ours = asyncio.run(_listed([*KXM, "mcp"], env, tmp_path))
    assert [tool["name"] for tool in ours] == [tool.name for tool in CORE]
    table = tmp_path / "tools.json"
    table.write_text(json.dumps({"tools": ours}))
    assert asyncio.run(_listed([sys.executable, "-P", SDK, table], env, tmp_path)) == ours


def test_what_comes_before_an_answer_is_kept_for_who_asks_for_it(tmp_path: Path) -> None:
    async def spoken() -> dict[str, Any]:
        async with started([sys.executable, "-c", SPEAKS_FIRST], environment(tmp_path), tmp_path) as session:
            assert await session.ask("ping") == {}
            return await session.told("notifications/news")

    assert asyncio.run(spoken()) == {"number": 1}


def test_a_refusal_is_a_failure_and_no_figure(tmp_path: Path) -> None:
    async def spoken() -> None:
        async with started([*KXM, "mcp"], environment(tmp_path, KXM_PROJECT="bench"), tmp_path) as session:
            await session.ask("initialize", **HELLO)
            await session.call("kxm_no_such_tool")

    with pytest.raises(Failed, match="unknown tool: kxm_no_such_tool"):
        asyncio.run(spoken())


def test_a_server_that_ends_is_a_failure_with_its_last_words(tmp_path: Path) -> None:
    async def spoken() -> None:
        async with started([*KXM, "mcp", "--nonsense"], environment(tmp_path), tmp_path) as session:
            await session.ask("initialize", **HELLO)

    with pytest.raises(Failed, match=r"the MCP server ended: .*not an option of this command"):
        asyncio.run(spoken())
