"""YAML as the network's reference writes it, byte for byte (spec/network.md 3.5).

What a plain scalar means decides how a text is written: a text that would read as a number, a truth value or null is
quoted.
"""

import json
import math
import re
from collections.abc import Mapping, Sequence
from typing import Any, Final

from peerline.wire.yaml_scalars import EXACT, is_minus_zero, resolved

# A text that can't stand plain: it would begin or end something else, or lose a blank at its edge.
_UNPLAIN: Final = re.compile(
    r"""^[\n\t ,\[\]{}#&*!|>'"%@`]|^[?-]\Z|^[?-][ \t]|[\n:][ \t]|[ \t]\n|[\n\t ]\#|[\n\t :]\Z""", re.VERBOSE
)
# At the start of a line it would begin or end a document.
_MARKER: Final = re.compile(r"(?:---|\.\.\.)[ \t]")
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NEWLINES: Final = re.compile(r"\n+")
_BLANK_END: Final = re.compile(r"\n[\t ]+\Z|\A\s*\Z")
_JSON_ESCAPES: Final = {"\\u0000": "\\0", "\\u0007": "\\a", "\\u000b": "\\v", "\\u001b": "\\e"}
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-f]{4}|.)")
_FOLD_FROM: Final = 40


def dump(value: Any) -> str:
    """`value` in the reference's style: block style, two blanks a level, no folding, keys as they come.

    Raises:
        TypeError: something in it is no mapping with texts for keys, list, text, number, truth value or None.
    """
    if isinstance(value, Mapping) and value:
        return "".join(_entries(value, 0))
    if _is_list(value) and value:
        return "".join(_items(value, 0))
    return _leaf(value, 2) + "\n"


def _is_list(value: Any) -> bool:
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def _leaf(value: Any, indent: int) -> str:
    if isinstance(value, Mapping):
        return "{}"
    if _is_list(value):
        return "[]"
    return scalar_text(value, indent)


def _entries(values: Mapping[str, Any], column: int) -> list[str]:
    blanks = " " * column
    lines: list[str] = []
    for key, value in values.items():
        if not isinstance(key, str):
            raise TypeError("a key that is no text")
        name = blanks + (_quoted(key, 0, True) if not column and _MARKER.match(key) else scalar_text(key, key=True))
        if value and isinstance(value, Mapping):
            lines += [f"{name}:\n", *_entries(value, column + 2)]
        elif value and _is_list(value):
            lines += [f"{name}:\n", *_items(value, column + 2)]
        else:
            lines.append(f"{name}: {_leaf(value, column + 2)}\n")
    return lines


def _items(values: Sequence[Any], column: int) -> list[str]:
    lines: list[str] = []
    for value in values:
        if value and isinstance(value, Mapping):
            inner = _entries(value, column + 2)
        elif value and _is_list(value):
            inner = _items(value, column + 2)
        else:
            inner = [f"{_leaf(value, column + 2)}\n"]
        lines += [f"{' ' * column}- {inner[0].lstrip(' ')}", *inner[1:]]
    return lines


def scalar_text(value: object, indent: int = 2, *, key: bool = False) -> str:
    """How `value` is written; the lines of a block follow with `indent` blanks in front.

    Raises:
        TypeError: `value` is no scalar.
    """
    if isinstance(value, str):
        return _text(value, indent, key)
    if value is None:
        return "null"
    if value is True or value is False:
        return "true" if value else "false"
    if isinstance(value, int | float):
        return _number(float(value)) if isinstance(value, float) or abs(value) > EXACT else str(value)
    raise TypeError(f"{type(value).__name__} is no YAML scalar")


def _text(text: str, indent: int, key: bool) -> str:
    if _CONTROL.search(text):
        return _double_quoted(text, indent, key)
    many = "\n" in text
    if many and key:
        return _quoted(text, indent, key)
    if _UNPLAIN.search(text):
        return _block(text, indent) if many else _quoted(text, indent, key)
    if many:
        return _block(text, indent)
    return text if resolved(text) is text else _quoted(text, indent, key)


def _quoted(text: str, indent: int, key: bool) -> str:
    if '"' in text and "'" not in text and "\n" not in text:
        return f"'{text}'"
    return _double_quoted(text, indent, key)


def _double_quoted(text: str, indent: int, key: bool) -> str:
    quoted = json.dumps(text, ensure_ascii=False)
    written = _ESCAPE.sub(_yaml_escape, quoted).replace(" \\n", "\\ \\n")  # a blank before a line end would be lost
    return written if key or len(quoted) < _FOLD_FROM else _folded(written, indent)


def _yaml_escape(found: re.Match[str]) -> str:
    escape = found.group()
    if escape[1] != "u":
        return escape
    return _JSON_ESCAPES.get(escape) or (f"\\x{escape[4:]}" if escape[2:4] == "00" else escape)


def _folded(quoted: str, indent: int) -> str:
    """A longer text shows its line ends as lines; the last one and one before the closing quote stay an escape."""
    out: list[str] = []
    at, last = 0, len(quoted) - 1
    for found in re.finditer(r"(?:\\.)", quoted):
        if found.start() < at or found.group() != "\\n" or found.end() == last:
            continue
        out.append(quoted[at : found.start()] + "\n\n")
        at = found.end()
        while quoted.startswith("\\n", at) and at + 2 != last:
            out.append("\n")
            at += 2
        out.append(" " * indent)
        if quoted.startswith(" ", at):
            out.append("\\")
    return "".join(out) + quoted[at:]


def _block(text: str, indent: int) -> str:
    """A literal block; one that would end in blanks only is quoted instead."""
    if _BLANK_END.search(text):
        return _quoted(text, indent, False)
    body = text.rstrip("\n\t ")
    end = text[len(body) :]
    if "\n" not in end:
        chomp = "-"
    elif end.index("\n") != len(end) - 1:
        chomp = "+"
    else:
        chomp = ""
    start = _leading(body)
    body = body[len(start) :]
    marker = "2" if " " in text[: len(text) - len(text.lstrip(" \n"))] else ""
    blanks = " " * indent
    if end.endswith("\n"):
        end = end[:-1]
    end = re.sub(r"\n+(?=[^\n])", lambda run: run.group() + blanks, end)
    start = _NEWLINES.sub(lambda run: run.group() + blanks, start)
    body = _NEWLINES.sub(lambda run: run.group() + blanks, body)
    return f"|{marker}{chomp}\n{blanks}{start}{body}{end}"


def _leading(text: str) -> str:
    """Its first lines that are empty or blank, or the blanks in front of its first line."""
    head = text[: len(text) - len(text.lstrip(" \n"))]
    return head[: head.rindex("\n") + 1] if "\n" in head else head


def _number(value: float) -> str:
    """A double as ECMAScript prints it."""
    if math.isnan(value):
        return ".nan"
    if math.isinf(value):
        return ".inf" if value > 0 else "-.inf"
    if is_minus_zero(value):
        return "-0"
    sign = "-" if value < 0 else ""
    mantissa, _, exponent = f"{abs(value)!r}".partition("e")
    whole, _, fraction = mantissa.partition(".")
    digits = (whole + fraction.rstrip("0")).lstrip("0") or "0"
    point = len(whole) + int(exponent or 0) - (len(whole + fraction) - len((whole + fraction).lstrip("0")))
    digits = digits.rstrip("0") or "0"
    if 0 < point <= 21:
        shown = digits.ljust(point, "0")
        return sign + (shown if len(digits) <= point else f"{digits[:point]}.{digits[point:]}")
    if -6 < point <= 0:
        return f"{sign}0.{'0' * -point}{digits}"
    tail = f".{digits[1:]}" if len(digits) > 1 else ""
    return f"{sign}{digits[0]}{tail}e{point - 1:+d}"
