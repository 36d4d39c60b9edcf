"""What a plain scalar of YAML 1.2's core schema means, as the network's reference reads it (spec/network.md 3.5)."""

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
EXACT: Final = 2**53


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
    return int(value) if value.is_integer() and abs(value) <= EXACT and not is_minus_zero(value) else value


def _whole(digits: str, base: int) -> int | float:
    value = int(digits, base)
    if abs(value) > EXACT:
        return float(value) if value.bit_length() < 1024 else (math.inf if value > 0 else -math.inf)
    return -0.0 if value == 0 and digits[0] == "-" else value


def is_minus_zero(value: float) -> bool:
    return value == 0 and math.copysign(1, value) < 0
