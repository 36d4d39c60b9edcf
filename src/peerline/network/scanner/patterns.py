"""Patterns under RE2, which cannot be made to backtrack.

Python's own engine takes 21 s for one published rule on a hostile text of 32,000 characters.
"""

from functools import cache
from typing import Any, Final

import re2

_OWN_MEMORY: Final = 1 << 20


class NotAPattern(Exception):
    """RE2 does not take it."""


@cache
def compiled(pattern: str) -> Any:
    """A rule's pattern, for the bytes that `plain_bytes` makes."""
    options = re2.Options()
    options.encoding = re2.Options.Encoding.LATIN1
    options.log_errors = False
    return re2.compile(pattern.encode("ascii"), options=options)


def compiled_for_text(pattern: str) -> Any:
    """Somebody else's pattern, for texts, with a bound to its memory.

    Raises:
        NotAPattern
    """
    options = re2.Options()
    options.log_errors = False
    options.max_mem = _OWN_MEMORY
    try:
        return re2.compile(pattern, options=options)
    except (re2.error, UnicodeError):
        raise NotAPattern from None


def plain_bytes(text: str) -> bytes:
    """One byte a character, so that places agree: what is no ASCII becomes a question mark."""
    return text.encode("ascii", "replace")
