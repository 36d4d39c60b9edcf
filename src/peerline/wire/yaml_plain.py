"""The plain part of YAML, read line by line: what programs write in headers and settings nine times out of ten.

It knows block mappings, lists of scalars, plain and simply quoted scalars, and gives up on everything else: the whole
reader (`yaml_core`) then decides. Where it gives a value, that is the value the whole reader would give (a test
compares them); it costs a third, and spares a short command the import of the whole reader.
"""

import re
from typing import Any, Final

from peerline.wire.yaml_scalars import resolved

_DEPTH: Final = 6
_LINE: Final = re.compile(r"( *)(?:([A-Za-z_][A-Za-z0-9_./-]{0,127}):(?: (.+))?|- (.+))")
_OUTSIDE: Final = re.compile("[\x00-\x09\x0b-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff\ufeff\ufffe\uffff]| #")
_FIRST: Final = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789_/.(+~")
_LETTERS: Final = frozenset(
    "ABCDEGHIJKLMOPQRSUVWXYZabcdeghijklmopqrsuvwxyz_/("
)  # none of which begins a number or word
_GIVE_UP: Final = object()


def plain_mapping(text: str, lines_at_most: int = 10_000) -> dict[str, Any] | None:
    """The mapping in `text`, or None where it is not plain enough to tell, or no mapping, or wrong, or too long."""
    if _OUTSIDE.search(text):
        return None
    lines = text.split("\n")
    if not lines[-1]:
        lines.pop()
    if len(lines) >= lines_at_most:
        return None
    root: dict[str, Any] = {}
    target: Any = root
    indent = 0
    above: list[tuple[int, Any]] = []
    waiting: str | None = None  # the key before this line, if nothing stood behind it
    for line in lines:
        found = _LINE.fullmatch(line)
        if found is None:
            return None
        blanks, key, value, item = found.groups()
        depth = len(blanks)
        if depth > indent:
            if waiting is None or len(above) == _DEPTH:
                return None
            above.append((indent, target))
            target[waiting] = [] if key is None else {}
            target, indent = target[waiting], depth
        while depth < indent:
            if not above:
                return None
            indent, target = above.pop()
        if depth != indent:
            return None
        waiting = None
        if key is None:
            if type(target) is not list or (one := _scalar(item)) is _GIVE_UP:
                return None
            target.append(one)
        elif type(target) is not dict or key in target:
            return None
        elif value is None:
            target[key] = None
            waiting = key
        else:
            one = _scalar(value)
            if one is _GIVE_UP:
                return None
            target[key] = one
    return root or None


def _scalar(text: str) -> Any:
    first = text[0]
    if first in _FIRST or first > "\x9f":
        if ": " in text or text[-1] in ": ":
            return _GIVE_UP
        return text if first in _LETTERS else resolved(text)
    if first in "\"'":
        inner = text[1:-1]
        return _GIVE_UP if len(text) < 2 or text[-1] != first or first in inner or "\\" in inner else inner
    if text == "[]":
        return []
    return {} if text == "{}" else _GIVE_UP
