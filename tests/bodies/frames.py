"""What holds of a text that shows foreign bodies: where each begins and ends, and what stands around them."""

import re
import unicodedata
from typing import Final

from peerline.core.fence import INTRODUCTION, PREFIX, unrender

OPENING: Final = re.compile(r"╭─ ([0-9a-f]{24,})")


def bodies(text: str) -> list[str]:
    """The bodies inside the text's frames, as they were sent; each frame opens and closes once, by its own mark."""
    lines = text.split("\n")
    found: list[str] = []
    opened = [place for place, line in enumerate(lines) if OPENING.fullmatch(line)]
    for place in opened:
        mark = lines[place].removeprefix("╭─ ")
        assert lines.count(f"╭─ {mark}") == lines.count(f"╰─ {mark}") == 1
        end = lines.index(f"╰─ {mark}")
        assert all(line.startswith(PREFIX) for line in lines[place + 1 : end])
        assert lines[place - 2].endswith(INTRODUCTION)
        found.append(unrender("\n".join([INTRODUCTION, *lines[place - 1 : end + 1]])))
    return found


def outside(text: str) -> str:
    """What the text says beside its frames: our own words, and names."""
    kept, inside = [], False
    for line in text.split("\n"):
        inside = inside or OPENING.fullmatch(line) is not None
        if not inside:
            kept.append(line)
        inside = inside and not line.startswith("╰─ ")
    return "\n".join(kept)


def shows_nothing_of(text: str, body: str) -> bool:
    """Whether no line of the body, as long as it says something, stands in the text."""
    said = [line.strip() for line in re.split(r"[\n\r]", body)]
    return not any(line in text for line in said if len(line) > 1)


def harmless(text: str) -> bool:
    """Whether a terminal only prints it: no control, no direction, nothing that hides."""
    return not any(unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp") for c in text if c not in "\n\t")
