"""The members of a call, read strictly: a wrong one is named with what would be right."""

from collections.abc import Mapping
from typing import Any

from peerline.core.errors import Invalid

Params = Mapping[str, Any]


class InvalidParams(Invalid):
    code = "INVALID_PARAMS"


def text(params: Params, name: str) -> str:
    """A text that must be there.

    Raises:
        InvalidParams
    """
    value = params.get(name)
    if not isinstance(value, str) or not value:
        raise InvalidParams(f"{name} is required, as a text")
    return value


def text_or_none(params: Params, name: str) -> str | None:
    """Raises: InvalidParams."""
    value = params.get(name)
    if value is not None and not isinstance(value, str):
        raise InvalidParams(f"{name} must be a text")
    return value


def texts(params: Params, name: str) -> tuple[str, ...]:
    """A list of texts, empty when it is not there.

    Raises:
        InvalidParams
    """
    value = params.get(name)
    if value is None:
        return ()
    if not isinstance(value, list | tuple) or not all(isinstance(one, str) for one in value):
        raise InvalidParams(f"{name} must be a list of texts")
    return tuple(value)


def count(params: Params, name: str, default: int | None, at_most: int) -> int | None:
    """A whole number from 1 to `at_most`.

    Raises:
        InvalidParams
    """
    value = params.get(name)
    if value is None:
        return default
    if type(value) is not int or not 1 <= value <= at_most:
        raise InvalidParams(f"{name} must be a whole number from 1 to {at_most:,}")
    return value
