"""The official SDK as client: it finds the same tools, and two agents work through it."""

import json
from contextlib import AsyncExitStack
from pathlib import Path

import pytest
from mcp import Client, StdioServerParameters
from mcp.types import CallToolResult, TextContent

from peerline.core.fence import unrender
from peerline.wire.tools import CORE
from tests.hub_process import KXM, Project, environment

pytestmark = pytest.mark.anyio


def served(home: Path, project: Project, name: str) -> StdioServerParameters:
    env = environment(
        home,
        KXM_SERVER_URL=project.hub.url,
        KXM_AUTH_TOKEN=project.token,
        KXM_PROJECT=project.name,
        KXM_AGENT_NAME=name,
    )
    return StdioServerParameters(command=KXM[0], args=[*KXM[1:], "mcp"], env=env, cwd=home)


def texts(result: object) -> list[str]:
    assert isinstance(result, CallToolResult)
    assert not result.is_error, result
    assert all(isinstance(block, TextContent) for block in result.content)
    return [block.text for block in result.content if isinstance(block, TextContent)]


async def test_it_falls_back_from_the_newer_era_and_lists_the_tools(tmp_path: Path, project: Project) -> None:
    async with Client(served(tmp_path, project, "me")) as client:
        assert client.protocol_version == "2025-11-25"
        assert client.server_info is not None
        assert client.server_info.name == "kxm"
        assert client.server_capabilities is not None
        assert client.server_capabilities.experimental == {"claude/channel": {}}
        assert client.instructions is not None
        assert "kxm_inbox" in client.instructions
        listed = (await client.list_tools()).tools
    assert [(tool.name, tool.description, tool.input_schema) for tool in listed] == [
        (tool.name, tool.description, tool.schema) for tool in CORE
    ]


@pytest.mark.requirement("MSG-FORMS-MCP")
async def test_two_agents_ask_wait_and_answer_through_it(tmp_path: Path, project: Project) -> None:
    async with AsyncExitStack() as stack:
        asker = await stack.enter_async_context(Client(served(tmp_path / "a", project, "asker")))
        helper = await stack.enter_async_context(Client(served(tmp_path / "b", project, "helper")))
        await helper.call_tool("kxm_list", {})  # so that it is there
        sent = json.loads(texts(await asker.call_tool("kxm_send", {"target": "helper", "content": "2 + 2?"}))[0])
        record, question = texts(await helper.call_tool("kxm_inbox", {}))
        assert [message["id"] for message in json.loads(record)["messages"]] == [sent["messageId"]]
        assert unrender(question) == "2 + 2?"
        await helper.call_tool("kxm_reply", {"messageId": sent["messageId"], "content": "4"})
        record, answer = texts(await asker.call_tool("kxm_await", {"messageId": sent["messageId"]}))
        assert json.loads(record)["status"] == "replied"
        assert unrender(answer) == "4"
        refused = await asker.call_tool("kxm_cancel", {"messageId": sent["messageId"]})
        assert isinstance(refused, CallToolResult)
        assert refused.is_error
        assert [block.text for block in refused.content if isinstance(block, TextContent)] == [
            "cannot cancel a replied message"
        ]
