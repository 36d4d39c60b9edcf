"""Characters that look like others, or like nothing: what a reader takes them for."""

import unicodedata
from typing import Final

# Letters of other scripts that look like ours; compatibility forms are folded by NFKC.
_TWINS: Final = dict(
    zip(
        map(ord, "АВСЕНІЈКМОРЅТХУавсеіјорѕхуһԁԛԝΑΒΕΖΗΙΚΜΝΟΡΤΥΧονραι‐‑‒–−"),
        "ABCEHIJKMOPSTXYabceijopsxyhdqwABEZHIKMNOPTYXovpai-----",
        strict=True,
    )
)
_NOT_SEEN: Final = frozenset(["Cf", "Cc", "Mn", "Me"])
_FILLERS: Final = "\u115f\u1160\u2800"
_KEPT_CONTROLS: Final = "\t\n\r"


class _Folds(dict[int, str]):
    """What each character counts as; filled as characters come."""

    def __missing__(self, code: int) -> str:
        character = chr(code)
        if character in _FILLERS or (character not in _KEPT_CONTROLS and unicodedata.category(character) in _NOT_SEEN):
            folded = ""
        else:
            folded = _TWINS.get(code) or unicodedata.normalize("NFKC", character)
        self[code] = folded
        return folded


_FOLDS: Final = _Folds()


def folded(text: str) -> str:
    """Compatibility forms folded, look-alikes replaced, what cannot be seen left out."""
    return text.translate(_FOLDS)


def place_before(text: str, place: int) -> int:
    """Where in `text` the character stands that is at `place` in `folded(text)`."""
    passed = 0
    for at, character in enumerate(text):
        passed += len(_FOLDS[ord(character)])
        if passed > place:
            return at
    return len(text)
