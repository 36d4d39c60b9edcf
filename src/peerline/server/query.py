"""Query strings, read strictly."""

from urllib.parse import parse_qsl

from peerline.core.errors import Invalid, InvalidRequest
from peerline.server.exchange import Request


def members(request: Request) -> dict[str, str]:
    """Raises: InvalidRequest: not UTF-8, too many members, or one twice."""
    if not request.query:
        return {}
    try:
        pairs = parse_qsl(request.query, keep_blank_values=True, max_num_fields=20, errors="strict")
    except ValueError:
        raise InvalidRequest("the query string is malformed") from None
    found = dict(pairs)
    if len(found) != len(pairs):
        raise InvalidRequest("a query member stands twice")
    return found


def integer(name: str, value: str | None, low: int, high: int, default: int) -> int:
    if value is None:
        return default
    if not (value.isascii() and value.isdigit() and len(value) < 19 and low <= int(value) <= high):
        raise Invalid(f"{name} must be an integer between {low} and {high}")
    return int(value)


def truth(value: str | None) -> bool:
    return value is not None and value.lower() in ("true", "1")
