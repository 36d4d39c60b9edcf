"""JSON that strangers send, read strictly; JSON that we send, written fast (decision 14)."""

import json
import math
from typing import Any

import msgspec

from peerline.core.errors import InvalidJson
from peerline.core.limits import JSON_DEPTH, JSON_INTEGER

encode = msgspec.json.Encoder().encode
_fast = msgspec.json.Decoder().decode


def decode(body: bytes) -> dict[str, Any]:
    """The object that `body` holds; an empty body is an empty object.

    Raises:
        InvalidJson: not an object, or with duplicate members, NaN, a number beyond 2**53, U+0000, half a surrogate
            pair, more than 32 levels, or bytes that are not UTF-8.
    """
    if not body or body == b"{}":
        return {}
    if (flat := _flat(body)) is not None:
        return flat
    try:
        text = body.decode()
        if text[0] != "{":
            text = text.lstrip(_SPACE)
        value, end = _scan(text, 0)
        if end != len(text) and text[end:].strip(_SPACE):
            raise ValueError("something follows the object")
    except (ValueError, RecursionError, StopIteration):
        raise InvalidJson("request body must be a valid JSON object") from None
    if not isinstance(value, dict):
        raise InvalidJson("request body must be a JSON object")
    if body.count(b"{") + body.count(b"[") > JSON_DEPTH or b"\\u" in body:
        _inspect(value)
    return value


def _flat(body: bytes) -> dict[str, Any] | None:
    """What most bodies are, read by the faster parser: strings, words and small numbers, without one escape. It only
    says yes; whatever it does not vouch for is judged by the strict one."""
    if b"\\" in body:
        return None
    try:
        value = _fast(body)
    except (ValueError, RecursionError):
        return None
    if type(value) is not dict:
        return None
    strings = len(value)
    least, shortest = 1 + 4 * strings, JSON_INTEGER  # braces and commas; quotes and colons
    for name, member in value.items():
        length = len(name)
        least += length
        shortest = min(shortest, length)
        if isinstance(member, str):
            strings += 1
            least += len(member) + 2
        elif isinstance(member, bool) or member is None:
            least += 4
        elif isinstance(member, int):
            if abs(member) > JSON_INTEGER:
                return None
            least += 1
        else:
            return None
    # A name that stands twice takes room: five bytes and itself. What is written without as many gaps needs no look.
    if len(body) - least < 5 + shortest:
        return value
    # Without escapes every string takes two quotes: a name that stands twice has some too many.
    return value if _quotes(body, 2 * strings) else None


def _quotes(body: bytes, wanted: int) -> bool:
    """Whether it has so many. Looking for the next one is twenty times as fast in a long text as counting all."""
    found, at = 0, body.find(34)
    while at >= 0 and found <= wanted:
        found += 1
        at = body.find(34, at + 1)
    return found == wanted


def _inspect(top: Any) -> None:
    """Depth, and the characters that only an escape can bring in."""
    waiting: list[tuple[Any, int]] = [(top, 1)]
    while waiting:
        value, depth = waiting.pop()
        if depth > JSON_DEPTH:
            raise InvalidJson(f"request body is nested deeper than {JSON_DEPTH} levels")
        if isinstance(value, dict):
            for name, member in value.items():
                waiting.append((name, depth))
                waiting.append((member, depth + 1 if isinstance(member, dict | list) else depth))
        elif isinstance(value, list):
            waiting.extend((item, depth + 1 if isinstance(item, dict | list) else depth) for item in value)
        elif isinstance(value, str) and ("\0" in value or any(0xD800 <= ord(c) <= 0xDFFF for c in value)):
            raise InvalidJson("request body holds U+0000 or half a surrogate pair")


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    members = dict(pairs)
    if len(members) != len(pairs):
        raise ValueError("duplicate member")
    return members


def _integer(digits: str) -> int:
    if len(digits) > 17 or abs(value := int(digits)) > JSON_INTEGER:
        raise ValueError("integer beyond 2**53")
    return value


def _real(digits: str) -> float:
    value = float(digits)
    if not math.isfinite(value):
        raise ValueError("not a finite number")
    return value


def _constant(name: str) -> float:
    raise ValueError(f"{name} is not JSON")


_DECODER = json.JSONDecoder(
    object_pairs_hook=_object, parse_int=_integer, parse_float=_real, parse_constant=_constant, strict=True
)
_scan = _DECODER.scan_once  # type: ignore[attr-defined]  # what `decode` does around it costs as much as a small body
_SPACE = " \t\n\r"
