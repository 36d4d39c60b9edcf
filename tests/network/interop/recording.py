"""The recorded calls of the public komnet: who typed what, and what came back."""

import json
import re
import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

ULID: Final = re.compile(r"\b[0-9A-HJKMNP-TV-Z]{26}\b")
_BLOCK: Final = re.compile(r"(?m)^===== \[(\d+)\] (\S+)\$ komnet ?(.*)\n# rc=(\d+) secs=\S+(.*)\n")


@dataclass(frozen=True, slots=True)
class Recorded:
    """One call: its number in the file, the agent, the words after `komnet`, the exit code and what it printed."""

    number: int
    agent: str
    words: tuple[str, ...]
    code: int
    note: str
    out: str
    err: str

    @property
    def verb(self) -> str:
        words = [word for word in self.words if not word.startswith("-")]
        return words[0] if words else ""

    @property
    def json(self) -> Any:
        """The JSON it printed, or None."""
        try:
            return json.loads(self.out) if "--json" in self.words else None
        except ValueError:
            return None


def recorded(file: Path) -> list[Recorded]:
    text = file.read_text()
    found = list(_BLOCK.finditer(text))
    calls = []
    for at, match in enumerate(found):
        end = found[at + 1].start() if at + 1 < len(found) else len(text)
        rest = text[match.end() : end]
        out, _, err = rest.partition("--- stderr\n")
        out = out.removeprefix("--- stdout\n")
        words = tuple(shlex.split(match[3]))
        calls.append(Recorded(int(match[1]), match[2], words, int(match[4]), match[5].strip(" —"), out, err))
    return calls


def shape(value: Any, path: str = "") -> dict[str, str]:
    """Every member of a JSON value by its path, with its type; the first entry of a list stands for all."""
    found = {path or ".": _kind(value)}
    if isinstance(value, dict):
        for name, member in value.items():
            found |= shape(member, f"{path}.{name}")
    elif isinstance(value, list) and value:
        found |= shape(value[0], f"{path}[]")
    return found


def _kind(value: Any) -> str:
    if value is None:
        return "null"
    return {bool: "flag", int: "number", float: "number", str: "text", list: "list", dict: "object"}[type(value)]
