"""ULIDs: 26 characters of Crockford base 32, the first ten a moment, the rest chance (spec/network.md 3.2)."""

import re
from collections.abc import Callable
from typing import Final

from peerline.core.ids import Entropy, Millis

_DIGITS: Final = "0123456789ABCDEFGHJKMNPQRSTVWXYZ"
_VALUE: Final = {digit: value for value, digit in enumerate(_DIGITS)}
_SHAPE: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}")
_CHANCE_BITS: Final = 80
_LATEST: Final = (1 << 48) - 1


def is_ulid(text: str) -> bool:
    """The reader's test: only the alphabet and the length count."""
    return _SHAPE.fullmatch(text) is not None


def ulid_ms(ulid: str) -> Millis:
    """The moment that the sender's clock wrote into it: a claim, never an order to rely on."""
    value = 0
    for digit in ulid[:10]:
        value = value * 32 + _VALUE[digit]
    return value


class Ulids:
    """Strictly rising ids, whatever the clock does: an earlier or equal millisecond counts the last id up by one.

    Not for several threads at once.
    """

    def __init__(self, now: Callable[[], Millis], entropy: Entropy) -> None:
        self._now = now
        self._entropy = entropy
        self._last = -1

    def next(self) -> str:
        moment = min(max(self._now(), 0), _LATEST)
        if moment > self._last >> _CHANCE_BITS:
            self._last = moment << _CHANCE_BITS | int.from_bytes(self._entropy(10), "big")
        else:
            self._last += 1
        return _text(self._last)


def _text(value: int) -> str:
    return "".join(_DIGITS[value >> shift & 31] for shift in range(125, -5, -5))
