"""What this process does to the world outside it, as the interpreter reports it: children, files, connections."""

import os
import re
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

STARTS: Final = frozenset(
    ("os.system", "os.exec", "os.posix_spawn", "os.spawn", "os.startfile", "os.fork", "os.forkpty", "pty.spawn")
)
REACHES: Final = frozenset(("socket.connect", "socket.bind", "os.kill", "ctypes.dlopen", "shutil.rmtree"))
WRITING: Final = os.O_WRONLY | os.O_RDWR | os.O_CREAT | os.O_TRUNC
# What differs from one run to the next and says nothing: ids, hashes, moments, process numbers.
_CHANGING: Final = re.compile(r"[0-9A-HJKMNP-TV-Z]{26}|[0-9a-f]{40}|\d+")


@dataclass
class Trace:
    """`children`: the words of each child process; `written`: files; `others`: any other act by its event's name."""

    children: list[tuple[str, ...]] = field(default_factory=list)
    environments: list[str] = field(default_factory=list)
    written: list[str] = field(default_factory=list)
    compiled: list[str] = field(default_factory=list)
    others: list[str] = field(default_factory=list)

    def note(self, event: str, args: tuple[Any, ...]) -> None:
        if event == "subprocess.Popen":
            words = args[1] if isinstance(args[1], (list, tuple)) else [args[1]]
            self.children.append(tuple(os.fsdecode(word) for word in words))
            self.environments.append(repr(args[3]))
        elif event == "open" and isinstance(args[0], (str, bytes)) and (args[2] or 0) & WRITING:
            self.written.append(os.fsdecode(args[0]))
        elif event == "compile" and args[0] is not None:
            self.compiled.append(repr(args[0]))
        elif event in STARTS or event in REACHES:
            self.others.append(event)

    @property
    def shapes(self) -> set[tuple[str, ...]]:
        """The children's words without what changes from run to run."""
        return {(Path(words[0]).name, *(_CHANGING.sub("*", word) for word in words[1:])) for words in self.children}


_now: list[Trace] = []


def _hook(event: str, args: tuple[Any, ...]) -> None:
    if _now:
        _now[-1].note(event, args)


@contextmanager
def traced() -> Iterator[Trace]:
    """All that happens in this process until the block ends; the hook itself stays, as it can't be taken out."""
    if _hook not in _installed:
        sys.addaudithook(_hook)
        _installed.append(_hook)
    _now.append(Trace())
    try:
        yield _now[-1]
    finally:
        _now.pop()


_installed: list[Any] = []
