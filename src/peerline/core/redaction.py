"""What must not stand in a log line: values under a secret's name, and values that look like one of our secrets."""

import re
from collections.abc import Mapping
from typing import Any, Final

REDACTED: Final = "[redacted]"
_NAME: Final = re.compile(r"token|secret|passw(or)?d|api_?key|authorization|bearer|credential", re.IGNORECASE)
_SHAPE: Final = re.compile(r"kxm_(?:admin|project)_[\w-]+|\bkey_[0-9a-f]{32}|\bbearer\s+\S+", re.IGNORECASE)


def redacted(about: Mapping[str, Any]) -> dict[str, Any]:
    """The same members; the ids of tokens (`tokenId`) are no secrets."""
    return {name: _value(name, value) for name, value in about.items()}


def _value(name: str, value: Any) -> Any:
    if isinstance(value, str):
        if _NAME.search(name) and not name.endswith("Id"):
            return REDACTED
        return _SHAPE.sub(REDACTED, value)
    if isinstance(value, Mapping):
        return redacted(value)
    if isinstance(value, list | tuple):
        return [_value(name, one) for one in value]
    return value
