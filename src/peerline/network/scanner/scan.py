"""The scanner: every rule over every view of a text, in time that grows with the text alone."""

import re
from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any, Final

from peerline.network.scanner.contexts import ASSIGNMENTS, CONTEXTS, describes
from peerline.network.scanner.finding import Finding
from peerline.network.scanner.patterns import compiled, plain_bytes
from peerline.network.scanner.rule import OwnPattern, Rule, Shape
from peerline.network.scanner.shapes import SHAPES, WITHIN
from peerline.network.scanner.structures import structured
from peerline.network.scanner.views import View, views

FINDINGS_AT_MOST: Final = 50
TOKEN_AT_MOST: Final = 4_096
"""Characters of a token that are looked at; more would let a text make the work grow with its square."""

_GENERAL: Final = "credential-assignment"


def scan(text: str, own: Sequence[OwnPattern] = ()) -> list[Finding]:
    """The suspected secrets of a text, in the order of their places, at most 50; never their values.

    `own` are a network's patterns. Where a disguise was taken off, the place is that of the disguised secret.
    """
    found: dict[tuple[int, str], Finding] = {}
    for view in views(text):
        for rule, place in _secrets(view, own):
            finding = placed(text, rule, view.locate(place))
            found.setdefault((finding.line, finding.rule), finding)
            if len(found) >= FINDINGS_AT_MOST:
                return sorted(found.values())
    named = {line for line, rule in found if rule != _GENERAL}
    return sorted(finding for (line, rule), finding in found.items() if rule != _GENERAL or line not in named)


def placed(text: str, rule: str, place: int) -> Finding:
    """The finding for a place, which counts characters from the start of the text."""
    start = text.rfind("\n", 0, place) + 1
    return Finding(line=text.count("\n", 0, place) + 1, column=place - start + 1, rule=rule)


def _secrets(view: View, own: Sequence[OwnPattern]) -> Iterator[tuple[str, int]]:
    text = view.text
    data = plain_bytes(text)
    yield from _shapes(text, data)
    if view.glued:
        return
    if own:
        yield from _own(text.encode("utf-8", "replace").decode("utf-8"), own)
    for rule in CONTEXTS:
        yield from _matches(rule, text, data)
    for rule in ASSIGNMENTS:
        yield from _matches(rule, text, data, named=True)
    yield from structured(text)


def _shapes(text: str, data: bytes) -> Iterator[tuple[str, int]]:
    """One pass for the beginnings of all shapes together; what follows is asked only there."""
    starts, place = _starts(), 0
    while match := starts.search(data, place):
        at, place = match.start(), match.end()
        for shape in _by_start()[match.group()]:
            rest = compiled(shape.rest).match(data, _after(shape, data, at), at + TOKEN_AT_MOST)
            if rest is None:
                continue
            place = max(place, rest.end())
            if shape.holds is None or shape.holds(text[at : rest.end()]):
                yield shape.name, at
                break
    for word, rule in WITHIN:
        if word in text:
            yield from _matches(rule, text, data)


def _after(shape: Shape, data: bytes, at: int) -> int:
    """Behind the longest of the shape's beginnings that stands there."""
    return at + max(len(start) for start in shape.starts if data.startswith(start.encode("ascii"), at))


@cache
def _starts() -> Any:
    """Any beginning; the longer one where one is the start of another."""
    words = sorted({start for shape in SHAPES for start in shape.starts}, key=len, reverse=True)
    return compiled("".join((r"\b(?:", "|".join(map(re.escape, words)), ")")))


@cache
def _by_start() -> dict[bytes, list[Shape]]:
    """The shapes that may stand behind a beginning, the narrowest first."""
    words = {start for shape in SHAPES for start in shape.starts}
    return {
        word.encode("ascii"): sorted(
            (shape for shape in SHAPES if word.startswith(shape.starts)),
            key=lambda shape: -max(len(start) for start in shape.starts if word.startswith(start)),
        )
        for word in words
    }


def _matches(rule: Rule, text: str, data: bytes, *, named: bool = False) -> Iterator[tuple[str, int]]:
    pattern, place = compiled(rule.pattern), 0
    group = pattern.groups
    while match := pattern.search(data, place):
        place = max(match.end(), place + 1)
        if named and describes(text[match.start(1) : match.end(1)]):
            continue
        if rule.holds is None or rule.holds(text[match.start(group) : match.end(group)]):
            yield rule.name, match.start(group)


def _own(text: str, own: Sequence[OwnPattern]) -> Iterator[tuple[str, int]]:
    """Each pattern's first place: it may fit everywhere, and one place is enough to refuse."""
    for one in own:
        match = one.pattern.search(text)
        if match is not None:
            yield one.name, match.start()
