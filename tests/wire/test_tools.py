"""The tool table: what it costs a session to be told of it, and what it has to say."""

import json
from typing import Any

import pytest

from peerline.wire.tools import ALL, CORE, SETS, Schema, Tool
from tests.wire.tools_page import PAGE, page

NAMES = [
    "kxm_list",
    "kxm_send",
    "kxm_get",
    "kxm_fanout",
    "kxm_await",
    "kxm_cancel",
    "kxm_inbox",
    "kxm_reply",
    "kxm_workflow_list",
    "kxm_workflow_get",
    "kxm_workflow_checkpoint",
    "kxm_workflow_record",
    "kxm_workflow_wait",
    "kxm_improvement_report",
    "kxm_context",
    "kxm_recall",
    "kxm_state",
    "kxm_episode",
    "kxm_promote",
    "kxm_claim",  # not the contract's
    "kxm_release",
]


def listed(tools: tuple[Tool, ...]) -> int:
    return len(json.dumps({"tools": [tool.as_listed() for tool in tools]}, separators=(",", ":")))


def objects(schema: Schema) -> list[Schema]:
    """The object schemas in it that name their members."""
    found = [schema] if "properties" in schema else []
    inner: list[Any] = [*schema.get("properties", {}).values(), *([schema["items"]] if "items" in schema else [])]
    return found + [one for each in inner for one in objects(each)]


@pytest.mark.parametrize(("name", "most"), [("core", 6_000), ("all", 16_000)])
def test_a_set_of_tools_is_told_within_its_bytes(name: str, most: int) -> None:
    assert listed(SETS[name]) <= most


def test_the_tools_stand_in_the_contracts_order() -> None:
    assert [tool.name for tool in ALL] == NAMES
    assert [tool.name for tool in CORE] == [*NAMES[:8], *NAMES[19:]]


@pytest.mark.parametrize("tool", ALL, ids=lambda tool: tool.name)
def test_every_object_of_a_schema_is_closed_and_knows_what_it_requires(tool: Tool) -> None:
    for schema in objects(tool.schema):
        assert schema["additionalProperties"] is False
        assert set(schema.get("required", ())) <= set(schema["properties"])


def test_the_idempotency_keys_say_what_they_are_not() -> None:
    send, fanout = CORE[1], CORE[3]
    for schema in (send.properties["idempotencyKey"], fanout.properties["idempotencyKeyPrefix"]):
        assert "not a workflow security or evidence binding" in schema["description"]


@pytest.mark.requirement("MSG-CANCEL-NO-ROLLBACK")
def test_cancel_says_that_it_undoes_nothing() -> None:
    assert "Undoes nothing" in CORE[5].description


def test_only_what_is_built_is_in_the_core() -> None:
    assert [tool.name for tool in CORE if tool.later] == []
    assert [tool.name for tool in ALL[8:19] if not tool.later] == []


def test_the_reference_page_is_what_the_table_says() -> None:
    assert PAGE.read_text(encoding="utf-8") == page(), "run: python -m tests.wire.tools_page"
