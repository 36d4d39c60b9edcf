"""The same text as it is once a disguise is taken off: wrapped, escaped, encoded, with characters that cannot be seen.

A view holds the lines that differ, and knows where its characters stand in the text that it was made from. Views are
made from views, a few levels deep and within a budget, so that no text can make the work large.
"""

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from peerline.network.scanner.encodings import encoded_texts
from peerline.network.scanner.folding import folded, place_before
from peerline.network.scanner.pieces import Pieces

_DEPTH: Final = 3
_BUDGET_TIMES: Final = 8
_BUDGET_FREE: Final = 65_536


@dataclass(frozen=True, slots=True)
class View:
    """`locate` leads from a place in `text` to one in the original text."""

    text: str
    locate: Callable[[int], int]
    depth: int = 0
    glued: bool = False
    """Words stand together that did not: only a token's own shape says anything here."""


def views(text: str) -> Iterator[View]:
    """Yield the text as it is, then its parts without their disguises; none twice."""
    budget = len(text) * _BUDGET_TIMES + _BUDGET_FREE
    seen = {hash(text)}
    waiting = [View(text, lambda place: place)]
    for view in waiting:
        yield view
        if view.glued or view.depth == _DEPTH:
            continue
        for make, glues in _MAKERS:
            pieces = make(view.text)
            made = pieces.text()
            if made and len(made) <= budget and hash(made) not in seen:
                budget -= len(made)
                seen.add(hash(made))
                waiting.append(View(made, _chained(pieces.locate, view.locate), view.depth + 1, glues))


def _chained(inner: Callable[[int], int], outer: Callable[[int], int]) -> Callable[[int], int]:
    return lambda place: outer(inner(place))


def _folded(text: str) -> Pieces:
    """The lines whose characters are not all what they look like."""
    pieces, start = Pieces(), 0
    for line in text.split("\n"):
        if not (line.isascii() and line.isprintable()):
            made = folded(line)
            if made != line:
                pieces.add(made, _in_line(line, start))
                pieces.add_made("\n", start)
        start += len(line) + 1
    return pieces


def _in_line(line: str, start: int) -> Callable[[int], int]:
    return lambda place: start + place_before(line, place)


_ESCAPES: Final = re.compile(
    r"%([0-9A-Fa-f]{2})|\\u([0-9A-Fa-f]{4})|\\u\{([0-9A-Fa-f]{1,6})\}|\\U([0-9A-Fa-f]{8})|\\x([0-9A-Fa-f]{2})"
    r"|&#[xX]([0-9A-Fa-f]{1,6});|&#([0-9]{1,7});|&(amp|quot|apos|lt|gt|shy|lowbar|hyphen|period|colon|equals|sol);"
    r"|\\([nrt\"'/\\_*`-])"
)
_NAMED: Final = {
    "amp": "&", "quot": '"', "apos": "'", "lt": "<", "gt": ">", "shy": "", "lowbar": "_", "hyphen": "-", "period": ".",
    "colon": ":", "equals": "=", "sol": "/", "n": "\n", "r": "\n", "t": "\t",
}  # fmt: skip
_DECIMAL, _ENTITY, _BACKSLASH = 7, 8, 9


def _unescaped(text: str) -> Pieces:
    """Percent signs, backslash escapes and HTML's entities resolved."""
    if "%" not in text and "\\" not in text and "&" not in text:
        return Pieces()
    return _replaced(text, _ESCAPES.finditer(text), _character)


def _character(match: re.Match[str]) -> str:
    kind = match.lastindex or 0
    written = match[kind]
    if kind in (_ENTITY, _BACKSLASH):
        return _NAMED.get(written, written)
    code = int(written, 10 if kind == _DECIMAL else 16)
    return chr(code) if code < 0x110000 and not 0xD800 <= code < 0xE000 else ""


_JOINT: Final = re.compile(
    r"[\"'`](?:\s{1,8}[+.&\\]?\s{0,8}|[+.&\\]\s{0,8})[\"'`]"  # "a" + "b", 'a' 'b'
    r"|\*\*|\\\r?\n[ \t]{0,80}"  # emphasis; a line continued by a backslash
)


def _concatenated(text: str) -> Pieces:
    """Literals put together as a program would do it, emphasis and continued lines taken out."""
    return _replaced(text, _JOINT.finditer(text), lambda _: "")


def _replaced(text: str, matches: Iterable[re.Match[str]], by: Callable[[re.Match[str]], str]) -> Pieces:
    """The lines with a match, each match replaced."""
    pieces, done, end = Pieces(), 0, -1
    for match in matches:
        if match.start() > end:
            if end >= 0:
                pieces.add(text[done : end + 1], done)
            done = text.rfind("\n", 0, match.start()) + 1
        pieces.add(text[done : match.start()], done)
        pieces.add_made(by(match), match.start())
        done = match.end()
        if done > end:
            end = text.find("\n", done)
            end = len(text) if end < 0 else end
    if end >= 0:
        pieces.add(text[done:end], done)
    return pieces


_LINE_MARKS: Final = " \t>|│┃+#*"
_LINE_ENDS: Final = " \t\r\\"
_RUN_AT_MOST: Final = 256
_LINES_AT_MOST: Final = 8
_GLUED_AT_LEAST: Final = 20


def _wrapped(text: str) -> Pieces:
    """For each line end, the words on both sides as one: a token may go on over several lines."""
    pieces = Pieces()
    if "\n" not in text:
        return pieces
    lines: list[tuple[int, str, str]] = []  # where it starts, the line without marks, its first word
    place = 0
    for line in text.split("\n"):
        kept = line.lstrip(_LINE_MARKS)
        words = kept.split(None, 1)
        lines.append((place + len(line) - len(kept), kept.rstrip(_LINE_ENDS), words[0] if words else ""))
        place += len(line) + 1
    for at, (start, line, _) in enumerate(lines[:-1]):
        tail = line[max(line.rfind(" "), line.rfind("\t")) + 1 :][-_RUN_AT_MOST:]
        head = lines[at + 1][2]
        if not tail or not head or (len(tail) + len(head) < _GLUED_AT_LEAST and len(head) < len(lines[at + 1][1])):
            continue
        parts = [(start + len(line) - len(tail), tail)]
        size = len(tail)
        for next_start, next_line, head in lines[at + 1 : at + 1 + _LINES_AT_MOST]:
            parts.append((next_start, head[:_RUN_AT_MOST]))
            size += len(head)
            if len(head) < len(next_line) or size >= _RUN_AT_MOST:
                break
        if size >= _GLUED_AT_LEAST:
            for source, part in parts:
                pieces.add(part, source)
            pieces.add_made("\n", parts[-1][0])
    return pieces


_SPACED: Final = re.compile(r"(?<!\S)(?:\S ){15,}\S(?!\S)")
_SPACED_HINT: Final = re.compile(r"(?<= \S \S \S \S \S) ")


def _spaced(text: str) -> Pieces:
    """Letters that were written one by one, put together."""
    pieces = Pieces()
    if not _SPACED_HINT.search(text):
        return pieces
    for match in _SPACED.finditer(text):
        for at in range(match.start(), match.end(), 2):
            pieces.add(text[at], at)
        pieces.add_made("\n", match.end() - 1)
    return pieces


def _decoded(text: str) -> Pieces:
    """The texts that stand in it as base64 or as hexadecimal digits."""
    pieces = Pieces()
    for place, inner in encoded_texts(text):
        pieces.add_made(inner + "\n", place)
    return pieces


# What makes a view, and whether it glues words together.
_MAKERS: Final[tuple[tuple[Callable[[str], Pieces], bool], ...]] = (
    (_folded, False),
    (_unescaped, False),
    (_concatenated, False),
    (_wrapped, True),
    (_spaced, True),
    (_decoded, False),
)
