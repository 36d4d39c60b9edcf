"""JSON for the hot commands: the interpreter's own C scanner without the `json` package, which takes 8 ms to import."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

try:
    from _json import encode_basestring as _quoted
    from _json import make_scanner

    class _Rules:
        strict = True
        object_hook = None
        object_pairs_hook = None
        parse_float = float
        parse_int = int

        @staticmethod
        def parse_constant(name: str) -> float:
            raise ValueError(f"{name} is no JSON")

    _scan: Any = make_scanner(_Rules())  # type: ignore[arg-type]  # it reads these attributes and nothing else
except ImportError:  # another interpreter
    from json import JSONDecoder
    from json.encoder import encode_basestring as _quoted

    _scan = JSONDecoder().raw_decode


_SPACE = " \t\n\r"


def loads(text: str) -> Any:
    """The value that `text` holds.

    Raises:
        ValueError: it is not one JSON value.
    """
    start = len(text) - len(text.lstrip(_SPACE))
    try:
        value, end = _scan(text, start)
    except (StopIteration, RecursionError, SystemError):
        # SystemError: the scanner takes its own error from the `json` package, and only if that is loaded already.
        raise ValueError("not JSON") from None
    if text[end:].strip(_SPACE):
        raise ValueError("more than one JSON value")
    return value


def dumps(value: Any) -> str:
    """Compact, as a request body and as the text that a fan-out's key is the hash of (spec/hub.md 15.5)."""
    return _write(value, "", _string)


def pretty(value: Any) -> str:
    """Indented by 2 spaces; what could move a cursor or fake a direction is escaped, so nothing is lost or believed."""
    return _write(value, "\n", _shown)


def shown(value: Any) -> str:
    """Like `pretty`, on one line."""
    return _write(value, "", _shown)


def _write(value: Any, line: str, string: Any) -> str:
    if isinstance(value, str):
        return string(value)  # type: ignore[no-any-return]
    if value is None or value is True or value is False:
        return "null" if value is None else "true" if value else "false"
    if isinstance(value, (int, float)):
        return repr(value)
    inner = line + "  " if line else ""
    if isinstance(value, dict):
        colon = ": " if line else ":"
        parts = [string(name) + colon + _write(part, inner, string) for name, part in value.items()]
        opening, closing = "{", "}"
    else:
        parts = [_write(part, inner, string) for part in value]
        opening, closing = "[", "]"
    if not parts:
        return opening + closing
    return opening + inner + ("," + inner).join(parts) + line + closing


def _string(text: str) -> str:
    quoted: str = _quoted(text)
    if not quoted.isascii() and any("\ud800" <= c <= "\udfff" for c in quoted):
        return "".join(_escape(c) if "\ud800" <= c <= "\udfff" else c for c in quoted)
    return quoted


def _shown(text: str) -> str:
    quoted: str = _quoted(text)
    if quoted.isascii() and "\x7f" not in quoted:
        return quoted
    return "".join(_escape(c) if _hidden(c) else c for c in quoted)


def _hidden(c: str) -> bool:
    """Control, format, filler, private and lone characters: what a terminal obeys or does not show."""
    n = ord(c)
    if n < 0x7F:
        return False
    from unicodedata import category

    return category(c) in ("Cc", "Cf", "Co", "Cs", "Cn", "Zl", "Zp") or n in (0x115F, 0x1160, 0x3164, 0xFFA0, 0x2800)


def _escape(c: str) -> str:
    n = ord(c)
    if n > 0xFFFF:
        n -= 0x10000
        return f"\\u{0xD800 + (n >> 10):04x}\\u{0xDC00 + (n & 0x3FF):04x}"
    return f"\\u{n:04x}"
