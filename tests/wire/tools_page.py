"""Writes the reference pages of the tools from their tables: python -m tests.wire.tools_page."""

from pathlib import Path
from typing import Final

from peerline.wire.komnet_tools import TOOLS
from peerline.wire.tools import ALL, Schema, Tool

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "tools.md"
NETWORK_PAGE: Final = PAGE.with_name("komnet-tools.md")
HEAD: Final = """\
# Tools

<!-- Written by `python -m tests.wire.tools_page`; change `wire/tools.py`, not this page. -->

What `kxm mcp` offers an agent ([guide](../guides/mcp.md)). `KXM_TOOLS=core`, the default, has those that are marked so.
A failure is a result with `isError` and one text; the hub's refusals have the texts of [Errors](errors.md). Lengths are
UTF-16 code units.
"""


NETWORK_HEAD: Final = """\
# Network tools

<!-- Written by `python -m tests.wire.tools_page`; change `wire/komnet_tools.py`, not this page. -->

What `komnet mcp` offers an agent ([rooms](../guides/rooms.md)). Rooms are made, joined and left by people
(`komnet room`), and so are `--as-human` and `--force-unsafe`: there is no tool for them.
"""


def page() -> str:
    return "\n".join([HEAD, *(_tool(tool, _kind(tool)) for tool in ALL)])


def network_page() -> str:
    return "\n".join([NETWORK_HEAD, *(_tool(tool, "") for tool in TOOLS)])


def _kind(tool: Tool) -> str:
    return " Core." if tool.core else f" Answers `not_built_yet` until {tool.later} can be used."


def _tool(tool: Tool, kind: str) -> str:
    head = f"## {tool.name}\n\n{tool.description}{kind}\n"
    rows = [_row(name, schema, name in tool.required) for name, schema in tool.properties.items()]
    if not rows:
        return head
    return "\n".join([head, "| argument | type | needed | meaning |", "|---|---|---|---|", *rows, ""])


def _row(name: str, schema: Schema, needed: bool) -> str:
    return f"| `{name}` | {_type(schema)} | {'yes' if needed else ''} | {_meaning(schema)} |"


def _type(schema: Schema) -> str:
    if "enum" in schema:
        return " / ".join(f"`{value}`" for value in schema["enum"])
    if schema["type"] == "array":
        return f"{schema['minItems']} to {schema['maxItems']} of {_type(schema['items'])}"
    if schema["type"] == "object" and "properties" in schema:
        members = ", ".join(f"`{name}`" for name in schema["properties"])
        return f"object: {members}"
    low, high = schema.get("minimum"), schema.get("maximum")
    bounds = f" {low} to {high}" if high is not None else f" from {low}" if low is not None else ""
    at_most = f" ≤ {schema['maxLength']}" if "maxLength" in schema else ""
    return f"{schema['type']}{bounds}{at_most}"


def _meaning(schema: Schema) -> str:
    default = f"default `{str(schema['default']).lower()}`" if schema.get("default") is False else ""
    if not default and "default" in schema:
        default = f"default `{schema['default']}`"
    return "; ".join(part for part in (schema.get("description", ""), default) if part)


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
    NETWORK_PAGE.write_text(network_page(), encoding="utf-8")
