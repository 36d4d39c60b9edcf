"""Entries in a TOML file: a table of their own at its end, so that the rest stays byte for byte as it was."""

import json
import re
import tomllib
from typing import Any, Final

from peerline.cli.setup.entry import Data, Dialect, Edit, Entry, Unfit, held, merged

_HEADER: Final = re.compile(r"^\s*\[")


def parse(text: str) -> Data:
    """The file's tables.

    Raises:
        Unfit: it is no valid TOML.
    """
    try:
        return tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise Unfit(f"it is no valid TOML: {error}") from None


def insert(text: str, entry: Entry) -> tuple[str, Edit]:
    """The text with the entry as its last table, and the record by which `cut` takes it out.

    Raises:
        Unfit: its tables are written so that one cannot be added at the end.
    """
    wanted = merged(parse(text), entry)
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = _table(entry.path, entry.value)
    gap = "" if not text else newline if text.endswith("\n") else newline * 2
    piece = gap + newline.join(lines) + newline
    try:
        if parse(text + piece) == wanted:
            return text + piece, Edit(path=entry.path, value=entry.value, text=piece)
    except Unfit:
        pass
    raise Unfit(f"its table {entry.path[0]} is written on one line, so nothing can be added at the end")


def cut(text: str, edit: Edit) -> str:
    """The text without the table, also where its client has written more below it."""
    if text.count(edit.text) == 1:
        without = text.replace(edit.text, "")
        if _sound(without, edit):
            return without
    if not held(parse(text), edit):
        return text
    without = _without_tables(text, edit.path)
    if not _sound(without, edit):
        raise Unfit(f"its table [{'.'.join(edit.path)}] cannot be told from the rest")
    return without


def _sound(text: str, edit: Edit) -> bool:
    """Whether nothing of the table is left."""
    try:
        here: Any = parse(text)
    except Unfit:
        return False
    for key in edit.path:
        if not isinstance(here, dict) or key not in here:
            return True
        here = here[key]
    return False


def _without_tables(text: str, path: tuple[str, ...]) -> str:
    """The text without the table at `path` and those below it."""
    quoted = r"\s*\.\s*".join(f"[\"']?{re.escape(key)}[\"']?" for key in path)
    ours = re.compile(rf"^\s*\[\s*{quoted}\s*[.\]]")
    kept, inside = [], False
    for line in text.splitlines(keepends=True):
        if _HEADER.match(line):
            inside = bool(ours.match(line))
        if not inside:
            kept.append(line)
    return "".join(kept)


def _table(path: tuple[str, ...], value: Data) -> list[str]:
    """The table's lines, then those of the tables in it."""
    lines = [f"[{'.'.join(path)}]", *(f"{key} = {_value(one)}" for key, one in value.items() if not _nested(one))]
    for key, one in value.items():
        if _nested(one):
            lines += _table((*path, key), one)
    return lines


def _nested(value: Any) -> bool:
    return isinstance(value, dict)


def _value(value: Any) -> str:
    """A text, a truth value or a list of texts; JSON writes them as TOML does."""
    return json.dumps(value, ensure_ascii=False)


TOML: Final = Dialect(parse, insert, cut)
