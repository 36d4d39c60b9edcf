"""The tools of the network: the recorded calls fit them, and they cost a session little."""

import json
from typing import Any

import pytest

from peerline.tools.arguments import checked
from peerline.wire.komnet_tools import BY_NAME, TOOLS
from peerline.wire.tool_schema import Tool
from tests.network.golden import golden_file, needs_golden
from tests.wire.test_tools import listed
from tests.wire.tools_page import NETWORK_PAGE, network_page

# With the verbs they belong to, in a later part.
LATER = {"komnet_claim", "komnet_agenda", "komnet_review", "komnet_task"}


def test_the_tools_are_told_within_their_bytes() -> None:
    assert listed(TOOLS) <= 9_000  # the reference's take 27,700


@needs_golden
def test_every_recorded_tool_is_here_and_takes_the_recorded_arguments() -> None:
    recorded = json.loads(golden_file("mcp-tools-and-calls.json").read_text())["tools"]
    schemas: dict[str, Any] = {tool["name"]: tool["inputSchema"] for tool in recorded}
    assert schemas.keys() == BY_NAME.keys() | LATER
    for name, tool in BY_NAME.items():
        theirs = schemas[name]
        assert theirs["properties"].keys() <= tool.properties.keys()
        assert set(theirs.get("required", ())) == set(tool.required)
        for argument, schema in theirs["properties"].items():
            ours = tool.properties[argument]
            assert ours.get("enum") == schema.get("enum")
            assert ours.get("maximum") == schema.get("maximum")
            assert schema.get("type", "string") == ours["type"]


@pytest.mark.requirement("RELAY-ASK-EXPLICIT")
def test_nothing_needs_a_human_unless_it_says_so() -> None:
    assert BY_NAME["komnet_ask"].properties["needs"]["default"] == "agent"
    assert BY_NAME["komnet_send"].properties["needs"]["default"] == "none"


def test_what_is_a_persons_to_do_has_no_tool_and_no_argument() -> None:
    words = {tool.name.removeprefix("komnet_") for tool in TOOLS}
    assert words.isdisjoint({"join", "leave", "create", "approve", "force"})
    arguments = {name for tool in TOOLS for name in tool.properties}
    assert arguments.isdisjoint({"authorKind", "asHuman", "forceUnsafe", "unsafeReason"})


@pytest.mark.parametrize("tool", TOOLS, ids=lambda tool: tool.name)
def test_every_tool_takes_what_it_requires_and_nothing_unknown(tool: Tool) -> None:
    given: dict[str, Any] = dict.fromkeys(tool.required, "x")
    for name in tool.required:
        given[name] = tool.properties[name].get("enum", ["x"])[0]
    assert checked(tool, given) == given
    assert tool.schema["additionalProperties"] is False
    assert set(tool.required) <= tool.properties.keys()


def test_the_reference_page_is_what_the_table_says() -> None:
    assert NETWORK_PAGE.read_text(encoding="utf-8") == network_page(), "run: python -m tests.wire.tools_page"
