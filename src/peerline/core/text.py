"""Text as the wire contract counts, trims and compares it (spec/hub.md 3.1, 15.1, 15.2, 15.7)."""

import unicodedata
from typing import Final

# ECMAScript's WhiteSpace and LineTerminator: not what str.strip() removes (no U+0085, no U+001C..1F; but U+FEFF).
_SPACE: Final = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(map(chr, range(0x2000, 0x200B)))


def trim(text: str) -> str:
    return text.strip(_SPACE)


def utf16_length(text: str) -> int:
    """UTF-16 code units: an emoji counts 2."""
    if text.isascii():
        return len(text)
    return len(text) + sum(1 for c in text if c > "\uffff")


def lower(name: str) -> str:
    """The form in which names are compared: two names that differ only by case are one agent."""
    return name.lower()


def bad_name_character(name: str) -> str | None:
    """The first character a name may not hold: control or format characters, `@`, `/`; else None."""
    for c in name:
        if c in "@/" or unicodedata.category(c) in ("Cc", "Cf", "Cs", "Co", "Zl", "Zp"):
            return c
    return None


_LOOKALIKE: Final = str.maketrans({"0": "o", "1": "l", "i": "l", "-": "", "_": "", ".": "", " ": ""})


def skeleton(name: str) -> str:
    """Names with one skeleton look alike; that is a reason to warn, never to refuse."""
    folded = unicodedata.normalize("NFKC", name).casefold()
    return folded.replace("rn", "m").translate(_LOOKALIKE)
