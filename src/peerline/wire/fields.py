"""Tables of fields: each reads one member with the contract's texts, and describes itself (spec/hub.md 3.1)."""

import re
from collections.abc import Sequence
from typing import Any, Protocol

from peerline.core.errors import Invalid
from peerline.core.text import trim, utf16_length


class Field(Protocol):
    name: str
    required: bool
    default: Any

    def read(self, body: dict[str, Any]) -> Any:
        """The member's value, or what stands for its absence. Raises: Invalid."""

    def schema(self) -> dict[str, Any]: ...


def read(fields: Sequence[Field], body: dict[str, Any]) -> dict[str, Any]:
    """All values by name, checked in the table's order: the first fault is the one that is reported."""
    return {field.name: field.read(body) if field.name in body or field.required else field.default for field in fields}


class Text:
    """A string, trimmed; `verbatim` ones are judged trimmed but kept as sent."""

    __slots__ = ("at_most", "default", "name", "required", "verbatim")

    def __init__(
        self, name: str, at_most: int, *, required: bool = False, default: str | None = None, verbatim: bool = False
    ) -> None:
        self.name, self.at_most, self.required, self.default, self.verbatim = name, at_most, required, default, verbatim

    def read(self, body: dict[str, Any]) -> str | None:
        value = body.get(self.name)
        if type(value) is not str:
            if value is None and not self.required:
                return self.default
            raise Invalid(f"{self.name} must be a string")
        text = trim(value)
        if not text:
            if not self.required:
                return self.default
            raise Invalid(f"{self.name} cannot be empty")
        if len(text) > self.at_most or (not text.isascii() and utf16_length(text) > self.at_most):
            raise Invalid(f"{self.name} exceeds {self.at_most} characters")
        return value if self.verbatim else text

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string" if self.required else ["string", "null"], "maxLength": self.at_most}
        if self.required:
            schema["minLength"] = 1
        return schema if self.default is None else {**schema, "default": self.default}


class Integer:
    """A whole number in bounds; absent falls back to the default, null does not. `5.0` is 5."""

    __slots__ = ("default", "high", "low", "name", "required")

    def __init__(self, name: str, low: int, high: int, default: int | None = None) -> None:
        self.name, self.low, self.high, self.default, self.required = name, low, high, default, default is None

    def read(self, body: dict[str, Any]) -> int:
        if self.name not in body and self.default is not None:
            return self.default
        value = body.get(self.name)
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if type(value) is not int or not self.low <= value <= self.high:
            raise Invalid(f"{self.name} must be an integer between {self.low} and {self.high}")
        return value

    def schema(self) -> dict[str, Any]:
        schema = {"type": "integer", "minimum": self.low, "maximum": self.high}
        return schema | ({} if self.default is None else {"default": self.default})


class Label(Text):
    """A word for people, on one line."""

    __slots__ = ()

    def read(self, body: dict[str, Any]) -> str:
        label = super().read(body) or ""
        if not label.isprintable():
            raise Invalid(f"{self.name} must not contain control or format characters")
        return label


class Texts:
    """A list of strings, each trimmed and of `each` units at most; absent, null and empty are None.

    `pattern` is what each has to be, whole, and then `of` says what that is.
    """

    __slots__ = ("_at_least", "_at_most", "_of", "_pattern", "_text", "default", "name", "required")

    def __init__(self, name: str, at_least: int, at_most: int, *, each: int, of: str, pattern: str = "") -> None:
        self.name, self.required, self.default = name, at_least > 0, None
        self._at_least, self._at_most, self._of, self._pattern = at_least, at_most, of, pattern
        self._text = Text("each", each, required=True)

    def read(self, body: dict[str, Any]) -> list[str] | None:
        value = body.get(self.name)
        if value is None and not self.required:
            return None
        if not isinstance(value, list) or not self._at_least <= len(value) <= self._at_most:
            raise Invalid(self._fault())
        try:
            texts = [str(self._text.read({"each": each})) for each in value]
        except Invalid:
            raise Invalid(self._fault()) from None
        if self._pattern and not all(re.fullmatch(self._pattern, text) for text in texts):
            raise Invalid(self._fault())
        return texts or None

    def _fault(self) -> str:
        many = str(self._at_most) if self._at_least == self._at_most else f"at most {self._at_most}"
        return f"{self.name} must be a list of {many} {self._of}, each of at most {self._text.at_most} characters"

    def schema(self) -> dict[str, Any]:
        items = self._text.schema() | ({"pattern": f"^{self._pattern}$"} if self._pattern else {})
        bounds = {"items": items, "minItems": self._at_least, "maxItems": self._at_most}
        return {"type": "array" if self.required else ["array", "null"], **bounds}


class Choice:
    """One of some strings; absent falls back to the default, null does not. Without a default it has to be there."""

    __slots__ = ("choices", "default", "fault", "name", "required")

    def __init__(self, name: str, choices: Sequence[str], default: str | None, fault: str) -> None:
        self.name, self.choices, self.default, self.fault = name, tuple(choices), default, fault
        self.required = default is None

    def read(self, body: dict[str, Any]) -> str:
        value = body.get(self.name, self.default)
        if not isinstance(value, str) or value not in self.choices:
            raise Invalid(self.fault)
        return value

    def schema(self) -> dict[str, Any]:
        schema: dict[str, Any] = {"type": "string", "enum": list(self.choices)}
        return schema if self.default is None else {**schema, "default": self.default}


class Flag:
    """A boolean; absent and null are false."""

    __slots__ = ("default", "name", "required")

    def __init__(self, name: str) -> None:
        self.name, self.required, self.default = name, False, False

    def read(self, body: dict[str, Any]) -> bool:
        value = body.get(self.name)
        if value is None:
            return False
        if not isinstance(value, bool):
            raise Invalid(f"{self.name} must be a boolean")
        return value

    def schema(self) -> dict[str, Any]:
        return {"type": ["boolean", "null"], "default": False}


class Opaque:
    """A member that is passed on unread."""

    __slots__ = ("_schema", "default", "name", "required")

    def __init__(self, name: str, schema: dict[str, Any] | None = None) -> None:
        self.name, self.required, self.default, self._schema = name, False, None, schema or {}

    def read(self, body: dict[str, Any]) -> Any:
        return body.get(self.name)

    def schema(self) -> dict[str, Any]:
        return dict(self._schema)


def refuse_unknown(fields: Sequence[Field], body: dict[str, Any]) -> None:
    """For our own routes: a member that no field reads is a mistake, not a wish. Raises: Invalid."""
    known = {field.name for field in fields}
    for name in body:
        if name not in known:
            raise Invalid(f"unknown field; known are: {', '.join(sorted(known)) or 'none'}")
