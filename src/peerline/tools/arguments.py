"""A tool call's arguments against the tool's schema, in the contract's words."""

from collections.abc import Mapping
from typing import Any, Final

from peerline.core.errors import Invalid
from peerline.core.fence import visible
from peerline.wire.tools import Schema, Tool

_TYPES: Final[Mapping[str, tuple[type, str]]] = {
    "string": (str, "a string"),
    "boolean": (bool, "true or false"),
    "integer": (int, "an integer"),
    "array": (list, "an array"),
    "object": (dict, "an object"),
}


def checked(tool: Tool, given: object) -> dict[str, Any]:
    """The arguments, those that are null left out.

    Raises:
        Invalid: one is missing, unknown or not what the schema says.
    """
    if given is None:
        given = {}
    if not isinstance(given, dict):
        raise Invalid("arguments must be an object")
    arguments = {name: value for name, value in given.items() if value is not None}
    _object(tool.schema, arguments, "")
    return arguments


def _object(schema: Schema, value: dict[str, Any], path: str) -> None:
    properties: dict[str, Schema] = schema.get("properties", {})
    for name in schema.get("required", ()):
        if value.get(name) in (None, ""):
            raise Invalid(f"{path}{name} is required")
    for name, each in value.items():
        if name in properties:
            _value(properties[name], each, path + name)
        elif schema.get("additionalProperties") is False:
            raise Invalid(f"unknown argument: {path}{visible(name, 40)}")
        elif isinstance(schema.get("additionalProperties"), dict):
            _value(schema["additionalProperties"], each, path + visible(name, 40))


def _value(schema: Schema, value: object, path: str) -> None:
    type_, named = _TYPES[schema["type"]]
    if not isinstance(value, type_) or (type_ is int and isinstance(value, bool)):
        raise Invalid(f"{path} must be {named}{_bounds(schema)}")
    if isinstance(value, int) and not isinstance(value, bool):
        low, high = schema.get("minimum", value), schema.get("maximum", value)
        if not low <= value <= high:
            raise Invalid(f"{path} must be an integer{_bounds(schema)}")
    elif isinstance(value, list):
        if not schema["minItems"] <= len(value) <= schema["maxItems"]:
            raise Invalid(f"{path} must hold {schema['minItems']} to {schema['maxItems']} entries")
        for each in value:
            _value(schema["items"], each, path)
    elif isinstance(value, dict):
        _object(schema, value, path + ".")
    elif "enum" in schema and value not in schema["enum"]:
        *others, last = schema["enum"]
        raise Invalid(f"{path} must be {', '.join(others)}, or {last}")


def _bounds(schema: Schema) -> str:
    if "minimum" in schema and "maximum" in schema:
        return f" between {schema['minimum']} and {schema['maximum']}"
    return f" of at least {schema['minimum']}" if "minimum" in schema else ""
