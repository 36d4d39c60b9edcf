"""The `komnet …` that a plugin's pages show, and whether such a command exists."""

import re
from collections.abc import Iterable
from pathlib import Path
from typing import NamedTuple

from peerline.cli.komnet.table import COMMANDS, options


class Shown(NamedTuple):
    page: str
    command: str


def shown_commands(plugin: Path, pages: Iterable[Path]) -> list[Shown]:
    found = []
    for page in pages:
        text = page.read_text()
        spans = re.findall(r"`(komnet [a-z][^`]*)`", text) + re.findall(r"^ *(komnet [a-z].*)$", text, re.MULTILINE)
        found += [
            Shown(page.relative_to(plugin).as_posix(), span) for span in spans if not span.startswith("komnet is ")
        ]
    return found


def wrong_with(command: str) -> str | None:
    """None: the command exists and takes every option that is shown."""
    words = re.sub(r"\"[^\"]*\"|'[^']*'|#.*|…", "", command).split()[1:]
    name = " ".join(words[:2]) if " ".join(words[:2]) in COMMANDS else words[0]
    if name not in COMMANDS:
        return f"there is no command {name}"
    unknown = [one for word in words if word.startswith("--") and (one := word.split("=")[0]) not in options(name)]
    return f"{name} takes no {unknown[0]}" if unknown else None
