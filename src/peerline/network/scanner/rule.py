"""What a rule is: a name, a shape in RE2's syntax, and what the matched value must be like."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True, slots=True)
class Rule:
    """`pattern` matches bytes; its first group, if it has one, is the secret, else the whole match is.

    `holds` says whether a match counts; None: every match does.
    """

    name: str
    pattern: str
    holds: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class Shape:
    """A token that starts with one of `starts`, at the beginning of a word, and goes on as the pattern `rest`."""

    name: str
    starts: tuple[str, ...]
    rest: str
    holds: Callable[[str], bool] | None = None


@dataclass(frozen=True, slots=True)
class OwnPattern:
    """A pattern that a network adds, compiled by RE2 for texts."""

    name: str
    pattern: Any
