"""Writes docs/reference/tools.md from the tool table: python -m tests.wire.tools_page."""

from pathlib import Path
from typing import Final

from peerline.wire.tools import ALL, Schema, Tool

PAGE: Final = Path(__file__).parents[2] / "docs" / "reference" / "tools.md"
HEAD: Final = """\
# Tools

<!-- Written by `python -m tests.wire.tools_page`; change `wire/tools.py`, not this page. -->

What `kxm mcp` offers an agent ([guide](../guides/mcp.md)). `KXM_TOOLS=core`, the default, has those that are marked so.
A failure is a result with `isError` and one text; the hub's refusals have the texts of [Errors](errors.md). Lengths are
UTF-16 code units.
"""


def page() -> str:
    return "\n".join([HEAD, *map(_tool, ALL)])


def _tool(tool: Tool) -> str:
    kind = "Core." if tool.core else f"Answers `not_built_yet` until {tool.later} can be used."
    head = f"## {tool.name}\n\n{tool.description} {kind}\n"
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
