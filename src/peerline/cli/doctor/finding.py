"""One thing that `kxm doctor` looked at, and what it found."""

from dataclasses import dataclass
from enum import StrEnum


class Level(StrEnum):
    OK = "ok"
    WARN = "warn"
    FAIL = "fail"


@dataclass(frozen=True, slots=True)
class Finding:
    """`fix` is a command to copy, or what to do where no command can do it."""

    check: str
    level: Level
    detail: str
    fix: str | None = None


def ok(check: str, detail: str) -> Finding:
    return Finding(check, Level.OK, detail)


def warn(check: str, detail: str, fix: str) -> Finding:
    return Finding(check, Level.WARN, detail, fix)


def fail(check: str, detail: str, fix: str) -> Finding:
    return Finding(check, Level.FAIL, detail, fix)
