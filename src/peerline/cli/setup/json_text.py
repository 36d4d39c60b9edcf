"""Entries in a JSON file: put in and taken out as text, so that the rest of the file stays byte for byte as it was."""

import json
import re
from typing import Any, Final, NamedTuple

from peerline.cli.setup.entry import Data, Dialect, Edit, Entry, Unfit, found, held, merged, place

_DECODER: Final = json.JSONDecoder()
_SPACE: Final = re.compile(r"[ \t\r\n]*")
_FIRST_INDENT: Final = re.compile(r"\{\s*?\n([ \t]+)\"")


class _Slot(NamedTuple):
    """One member or item: where it begins (its key, if it has one), where its value begins, where it ends."""

    key: str | None
    start: int
    value: int
    end: int


class _Container(NamedTuple):
    opening: int
    slots: list[_Slot]
    closing: int


def parse(text: str) -> Data:
    """The file's object; an empty file is an empty one.

    Raises:
        Unfit: it is no JSON object, or it has comments.
    """
    if not text.strip():
        return {}
    try:
        data = json.loads(text)
    except json.JSONDecodeError as error:
        if re.match(r"\s*/[/*]", text[error.pos :]) or re.search(r"^\s*//", text, re.MULTILINE):
            raise Unfit("it is JSON with comments, which only you can keep in order") from None
        raise Unfit(f"it is no valid JSON: line {error.lineno}, column {error.colno}: {error.msg}") from None
    if not isinstance(data, dict):
        raise Unfit("it holds no JSON object")
    return data


def insert(text: str, entry: Entry) -> tuple[str, Edit]:
    """The text with the entry in it, and the record by which `cut` takes it out.

    Raises:
        Unfit: something else is where the entry belongs.
    """
    data = parse(text)
    wanted = merged(data, entry)
    depth, at = 0, _SPACE.match(text).end()  # type: ignore[union-attr]
    container = _container(text, at) if text.strip() else None
    while container is not None and depth < len(entry.path):
        slot = _member(container, entry.path[depth])
        if slot is None:
            break
        container, depth = _container(text, slot.value), depth + 1
    # What is not there yet comes along: the containers on the way, and the list.
    value: Any = entry.value
    rest = entry.path[depth:]
    if rest and entry.listed:
        value = [value]
    for key in reversed(rest[1:] if container is not None else rest):
        value = {key: value}
    made = max(len(rest) - 1, 0) + (1 if rest and entry.listed else 0)
    if container is None:
        where, piece = 0, json.dumps(value, indent=2, ensure_ascii=False) + "\n"
    else:
        where, piece = _piece(text, container, rest[0] if rest else None, value)
    result = text[:where] + piece + text[where:]
    if parse(result) != wanted:
        raise Unfit("it has one name twice")
    return result, Edit(path=entry.path, value=entry.value, listed=entry.listed, text=piece, made=made)


def cut(text: str, edit: Edit) -> str:
    """The text without what the edit put in; containers that came along go if they are empty."""
    if text.count(edit.text) == 1:
        without = text.replace(edit.text, "")
        if not without.strip() or _sound(without, edit):
            return without
    data = parse(text)
    here = found(data, edit.path)
    if not held(data, edit):
        return text
    text = _cut_slot(text, edit.path, place(here, edit.value) if edit.listed else None)
    path = edit.path if edit.listed else edit.path[:-1]
    for _ in range(edit.made):
        if not path or found(parse(text), path):
            break
        text, path = _cut_slot(text, path, None), path[:-1]
    return text


def _sound(text: str, edit: Edit) -> bool:
    try:
        return not held(parse(text), edit)
    except Unfit:
        return False


def _container(text: str, at: int) -> _Container:
    opening, keyed = at, text[at] == "{"
    at = _skip(text, at + 1)
    slots = []
    while text[at] not in "}]":
        start, key = at, None
        if keyed:
            key, at = _DECODER.raw_decode(text, at)
            at = _skip(text, _skip(text, at) + 1)  # the colon
        value = at
        _, at = _DECODER.raw_decode(text, at)
        slots.append(_Slot(key, start, value, at))
        at = _skip(text, at)
        if text[at] == ",":
            at = _skip(text, at + 1)
    return _Container(opening, slots, at)


def _skip(text: str, at: int) -> int:
    match = _SPACE.match(text, at)
    assert match is not None
    return match.end()


def _member(container: _Container, key: str) -> _Slot | None:
    return next((slot for slot in container.slots if slot.key == key), None)


def _piece(text: str, container: _Container, key: str | None, value: Any) -> tuple[int, str]:
    """Where the value goes, and as which text: in the file's own indentation and line ends."""
    newline = "\r\n" if "\r\n" in text else "\n"
    unit = indent[1] if (indent := _FIRST_INDENT.search(text)) else "  "
    name = "" if key is None else json.dumps(key, ensure_ascii=False) + ": "
    if container.slots:
        last = container.slots[-1]
        pad = _pad(text, last.start)
        if pad is None:
            return last.end, f", {name}{json.dumps(value, ensure_ascii=False)}"
        return last.end, f",{newline}{pad}{name}{_block(value, unit, pad, newline)}"
    outer = _line_pad(text, container.opening)
    pad = outer + unit
    return container.opening + 1, f"{newline}{pad}{name}{_block(value, unit, pad, newline)}{newline}{outer}"


def _block(value: Any, unit: str, pad: str, newline: str) -> str:
    return json.dumps(value, indent=unit, ensure_ascii=False).replace("\n", newline + pad)


def _pad(text: str, at: int) -> str | None:
    """The indentation of what begins at `at`; None if it does not begin its line."""
    before = text[text.rfind("\n", 0, at) + 1 : at]
    return before if "\n" in text[:at] and not before.strip() else None


def _line_pad(text: str, at: int) -> str:
    line = text[text.rfind("\n", 0, at) + 1 : at]
    return line[: len(line) - len(line.lstrip())]


def _cut_slot(text: str, path: tuple[str, ...], item: int | None) -> str:
    """The text without the member at `path`, or without one item of the list there; with the comma that goes."""
    container = _container(text, _skip(text, 0))
    for key in path if item is not None else path[:-1]:
        slot = _member(container, key)
        assert slot is not None
        container = _container(text, slot.value)
    names = [slot.key for slot in container.slots]
    at = item if item is not None else names.index(path[-1])
    slots = container.slots
    if at > 0:
        return text[: slots[at - 1].end] + text[slots[at].end :]
    if len(slots) > 1:
        return text[: slots[0].start] + text[slots[1].start :]
    return text[: container.opening + 1] + text[container.closing :]


JSON: Final = Dialect(parse, insert, cut)
