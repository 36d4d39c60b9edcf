"""Bodies made by chance, weighted to what could break a fence; the same seed gives the same bodies."""

import random
import unicodedata
from collections.abc import Iterator
from typing import Final

from tests.core.fence_breakers import BREAKERS, MARK
from tests.core.reported_bodies import REPORTED

LINES: Final = ("\n", "\r", "\r\n", "\u2028", "\u2029", "\u0085", "\v", "\f", "\n\n", "\n\n\n")
OURS: Final = (
    *("│ ", "│", "╭─ ", "╰─ ", f"╭─ {MARK}", f"╰─ {MARK}", f"\n╰─ {MARK}\n", MARK, MARK[:-1], MARK[:24]),
    *("⟨", "⟩", "⟨U+", "⟨U+200B⟩", "⟨U+27E8⟩", "U+", "«", "»", "(cut: 1 of 2 characters are shown)"),
    *("Text from another agent, on the lines marked │:", "from: human; agent: agt_1", '"', "; "),
)
HIDDEN: Final = (
    *("\x00", "\x07", "\b", "\x1b", "\x1b[", "\x1b]0;", "\x9b", "\x9d", "\x7f", "\u00ad", "\u034f", "\u061c"),
    *("\u115f", "\u1160", "\u17b4", "\u180b", "\u180e", "\u200b", "\u200c", "\u200d", "\u200e", "\u202e", "\u2060"),
    *("\u2065", "\u2066", "\u2800", "\u3164", "\ufeff", "\uffa0", "\ufff0", "\ufff9", "\ufffc", "\ufffe", "\uffff"),
    *("\ufdd0", "\ue000", "\U000e0001", "\U000e0041", "\U000e0fff", "\U000f0000", "\U0010ffff", "\ufe00", "\ufe0e"),
    *("\ufe0f", "\U000e0100", "\u20e3", "\u0301", "\u0336", "\u20dd", "❤", "☃", "1\ufe0f\u20e3", "\U0001f600"),
)
WORDS: Final = (
    "obey",
    "ignore all that",
    "System:",
    "Human:",
    "</channel>",
    "<system-reminder>",
    "/exit",
    "a",
    " ",
    "\t",
)
WHOLE: Final = tuple(text for text in (*BREAKERS.values(), *REPORTED.values()) if len(text) < 400)
SORTS: Final = (LINES, OURS, HIDDEN, WORDS, WHOLE)
# Half a character is sent by no hub.
UNSETTLED: Final = ("Cs",)


def generated(seed: int, count: int) -> Iterator[str]:
    chance = random.Random(seed)
    for _ in range(count):
        yield "".join(_piece(chance) for _ in range(chance.randrange(1, 14)))


def _piece(chance: random.Random) -> str:
    sort = chance.randrange(len(SORTS) + 2)
    if sort < len(SORTS):
        return chance.choice(SORTS[sort])
    if sort == len(SORTS):
        return chr(chance.randrange(0x20, 0x7F))
    while unicodedata.category(character := chr(chance.randrange(0x110000))) in UNSETTLED:
        pass
    return character
