"""What a tool of an agent is, and the few JSON schemas that its arguments are made of."""

from collections.abc import Mapping
from typing import Any, NamedTuple

Schema = dict[str, Any]


class Tool(NamedTuple):
    """`core` ones are always offered; `later` names what a tool waits for that cannot work yet."""

    name: str
    description: str
    properties: Mapping[str, Schema]
    required: tuple[str, ...] = ()
    core: bool = False
    reads: bool = False
    later: str = ""

    @property
    def schema(self) -> Schema:
        found: Schema = {"type": "object", "properties": dict(self.properties), "additionalProperties": False}
        return found | ({"required": list(self.required)} if self.required else {})

    def as_listed(self) -> dict[str, Any]:
        """The tool as `tools/list` tells it."""
        listed = {"name": self.name, "description": self.description, "inputSchema": self.schema}
        return listed | ({"annotations": {"readOnlyHint": True}} if self.reads else {})


def text(about: str = "", at_most: int = 0) -> Schema:
    found: Schema = {"type": "string"}
    if at_most:
        found["maxLength"] = at_most
    return found | ({"description": about} if about else {})


def integer(low: int, high: int, about: str = "") -> Schema:
    found: Schema = {"type": "integer", "minimum": low, "maximum": high}
    return found | ({"description": about} if about else {})


def choice(*values: str, default: str = "") -> Schema:
    return {"type": "string", "enum": list(values)} | ({"default": default} if default else {})


def items(each: Schema, at_least: int, at_most: int, about: str = "") -> Schema:
    found: Schema = {"type": "array", "items": each, "minItems": at_least, "maxItems": at_most}
    return found | ({"description": about} if about else {})
