"""How `peerline` speaks: a person's sentences, colour only on a terminal, or with --json one object."""

import os
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from datetime import UTC, datetime
from shutil import get_terminal_size
from typing import Any, Final

from peerline.cli.hot_brief import named
from peerline.cli.hot_json import shown
from peerline.cli.hot_output import SCHEMA, Failure, Output, write
from peerline.core.agent import GATEWAY
from peerline.core.fence import excerpt, relayed, render_once, visible

STYLES: Final = {"bold": "1", "dim": "2", "red": "31", "green": "32", "yellow": "33"}
WIDE_ENOUGH: Final = 40


class _Plain(Output):
    def unprinted(self, failure: Failure) -> int:
        if self.as_json:
            return self.failure(failure)
        command = f"peerline {self.command}".strip()
        write(2, self.redacted(f"{command}: {visible(failure.detail, 1_000)}") + "\n")
        return failure.exit_code


class Voice:
    def __init__(self, env: Mapping[str, str], *, as_json: bool, command: str = "") -> None:
        self.as_json = as_json
        self.command = command
        self._output = _Plain(dict(env), as_json=as_json, command=command)
        on_terminal = sys.stdout is not None and sys.stdout.isatty()
        self._colour = on_terminal and not env.get("NO_COLOR") and env.get("TERM") != "dumb"
        self.width = get_terminal_size().columns if on_terminal else None

    def styled(self, text: str, style: str) -> str:
        return f"\x1b[{STYLES[style]}m{text}\x1b[0m" if self._colour else text

    def done(self, lines: Sequence[str], code: int = 0, **facts: Any) -> int:
        """Print the lines for a person, or the facts as one object; the exit code."""
        if self.as_json:
            return self._output.result({"ok": code == 0, "command": self.command, **facts}) or code
        return self._output.text("\n".join(lines)) or code

    def event(self, line: str, facts: Mapping[str, Any]) -> int:
        """One of many: a line for a person, or one object on one line."""
        as_line = shown({"schema": SCHEMA, "ok": True, "command": self.command, **facts})
        return self._output.text(as_line if self.as_json else line)

    def aside(self, text: str) -> None:
        """What is worth knowing but no result: on stderr."""
        write(2, self._output.redacted(text) + "\n")

    def failure(self, failure: Failure) -> int:
        """What happened and what to do, on one line; the exit code."""
        return self._output.unprinted(failure)

    def table(self, head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
        """Columns side by side; one that is empty in all rows is left out, the last one is cut to the terminal."""
        kept = [place for place in range(len(head)) if any(row[place] for row in rows)]
        cells = [[row[place] for place in kept] for row in [head, *rows]]
        widths = [max(columns(row[place]) for row in cells) for place in range(len(kept))]
        lines = []
        for number, row in enumerate(cells):
            line = "  ".join(cell + " " * (width - columns(cell)) for cell, width in zip(row, widths, strict=True))
            line = self.fitted(line.rstrip())
            lines.append(self.styled(line, "dim") if number == 0 else line)
        return lines

    def fitted(self, line: str) -> str:
        """The line, cut to the terminal's width if there is one."""
        if self.width is None or self.width < WIDE_ENOUGH or columns(line) <= self.width:
            return line
        while columns(line) >= self.width:
            line = line[:-1]
        return line + "…"


def columns(text: str) -> int:
    """The places that `text` takes on a terminal."""
    if text.isascii():
        return len(text)
    return sum(
        0 if unicodedata.combining(c) or c in "\ufe0e\ufe0f" else 2 if unicodedata.east_asian_width(c) in "WF" else 1
        for c in text
    )


def fenced(body: str, origin: Mapping[str, str], *, by_gateway: bool = False) -> list[str]:
    """Foreign text as lines, in a fence made for this one look; what a gateway brought has no second one."""
    return render_once(body, origin, os.urandom(12), by_gateway=by_gateway).split("\n")


def by_gateway(name: Any) -> bool:
    """Whether what this end of a message writes is the gateway's: nobody else has its name, or one with an @."""
    return name == GATEWAY or "@" in str(name)


def who(name: Any) -> str:
    """A foreign name within a sentence: in quotes, unless it is one plain word."""
    return named(name if name else "?")


def summary(text: str, at_most: int = 60, *, by_gateway: bool = False) -> str:
    """The first line of a foreign text, for a list."""
    found = relayed(text) if by_gateway else None
    return excerpt(found.body if found else text, at_most)


def moment(iso: Any) -> datetime | None:
    """A time as the hub writes it, or None."""
    try:
        found = datetime.fromisoformat(str(iso))
    except ValueError:
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)


def clock(iso: Any) -> str:
    """Local time of day; with the date when it is not today's."""
    at = moment(iso)
    if at is None:
        return "?"
    local = at.astimezone()
    return local.strftime("%H:%M:%S" if local.date() == datetime.now().date() else "%Y-%m-%d %H:%M")


def span(seconds: float) -> str:
    """A duration in its largest unit: 40 s, 3 min, 2 h, 5 d."""
    for unit, size in (("d", 86_400), ("h", 3_600), ("min", 60)):
        if seconds >= size:
            return f"{seconds / size:.0f} {unit}"
    return f"{max(0.0, seconds):.0f} s"


def age(iso: Any) -> str:
    at = moment(iso)
    return "?" if at is None else span((datetime.now(UTC) - at).total_seconds())


def left(iso: Any) -> str:
    at = moment(iso)
    return "?" if at is None else span((at - datetime.now(UTC)).total_seconds())
