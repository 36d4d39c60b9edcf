"""Scalars of YAML 1.2's core schema, read and written as the network's reference does (spec/network.md 3.5).

What a plain scalar means decides how a text is written: a text that would read as a number, a truth value or null is
quoted.
"""

import json
import math
import re
from typing import Final

# One pattern, because nearly every text that begins like a number (an id, a moment) is none.
_NUMBER: Final = re.compile(
    r"(?P<whole>[-+]?[0-9]+)|(?P<octal>0o[0-7]+)|(?P<hex>0x[0-9a-fA-F]+)"
    r"|(?P<float>[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?)|(?P<infinite>[-+]?\.(?:inf|Inf|INF))"
)
_WORDS: Final = {
    "": None, "~": None, "null": None, "Null": None, "NULL": None,
    "true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False,
    ".nan": math.nan, ".NaN": math.nan, ".NAN": math.nan,
}  # fmt: skip
_FIRST: Final = frozenset("+-.0123456789")
_EXACT: Final = 2**53

# A text that can't stand plain: it would begin or end something else, or lose a blank at its edge.
_UNPLAIN: Final = re.compile(
    r"""^[\n\t ,\[\]{}#&*!|>'"%@`]|^[?-]\Z|^[?-][ \t]|[\n:][ \t]|[ \t]\n|[\n\t ]\#|[\n\t :]\Z""", re.VERBOSE
)
_CONTROL: Final = re.compile(r"[\x00-\x08\x0b-\x1f\x7f-\x9f]")
_NEWLINES: Final = re.compile(r"\n+")
_BLANK_END: Final = re.compile(r"\n[\t ]+\Z|\A\s*\Z")
_JSON_ESCAPES: Final = {"\\u0000": "\\0", "\\u0007": "\\a", "\\u000b": "\\v", "\\u001b": "\\e"}
_ESCAPE: Final = re.compile(r"\\(?:u[0-9a-f]{4}|.)")
_FOLD_FROM: Final = 40


def resolved(plain: str) -> object:
    """What a plain scalar means: None, a truth value, a number or the text itself.

    Numbers are those of the reference: a double; whole ones up to 2**53 come as int.
    """
    if plain in _WORDS:
        return _WORDS[plain]
    if plain[0] not in _FIRST or (found := _NUMBER.fullmatch(plain)) is None:
        return plain
    kind = found.lastgroup
    if kind == "whole":
        return _whole(plain, 10) if len(plain) < 400 else float(plain)
    if kind == "octal":
        return _whole(plain[2:], 8)
    if kind == "hex":
        return _whole(plain[2:], 16)
    if kind == "infinite":
        return -math.inf if plain[0] == "-" else math.inf
    value = float(plain)
    return int(value) if value.is_integer() and abs(value) <= _EXACT and not _is_minus_zero(value) else value


def _whole(digits: str, base: int) -> int | float:
    value = int(digits, base)
    if abs(value) > _EXACT:
        return float(value) if value.bit_length() < 1024 else (math.inf if value > 0 else -math.inf)
    return -0.0 if value == 0 and digits[0] == "-" else value


def _is_minus_zero(value: float) -> bool:
    return value == 0 and math.copysign(1, value) < 0


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
        return _number(float(value)) if isinstance(value, float) or abs(value) > _EXACT else str(value)
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
    if _is_minus_zero(value):
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
