"""Which Codex thread this server belongs to, and whether a line queued for it would ever be read.

Codex starts its servers without the variables that name the thread or its home. It does hold a lock file per live
thread, open, in its home: where the system shows a process's open files, these tell both before any tool call.
"""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LOCKS: Final = "thread-writer-locks"
HEAD_BYTES: Final = 1 << 20
LOOK_S: Final = 5.0
EXEC: Final = "the session is a `codex exec`, which loses what is queued for it"
SUBAGENT: Final = "the thread is a Codex subagent's, which takes no messages"
# Options before the subcommand whose value is a word of its own.
_WITH_VALUE: Final = frozenset(
    (
        *("-c", "--config", "-m", "--model", "-p", "--profile", "-s", "--sandbox", "-a", "--ask-for-approval"),
        *("-C", "--cd", "-i", "--image", "--add-dir", "--enable", "--disable", "--local-provider", "--remote"),
    )
)


class Refused(Exception):
    """Nothing may be queued for this session; the text says why."""


@dataclass(frozen=True, slots=True)
class Thread:
    """`home` is None where Codex's own default has to do."""

    id: str
    program: str
    home: str | None


def find(named: str | None, codex: int | None = None) -> Thread | None:
    """The thread that lines can be queued for; `named` is the id that Codex gave, if it did. None: not known yet.

    `codex` is the process that started us.

    Raises:
        Refused: what is queued there would be lost, or there is no program to queue with.
    """
    process = codex or os.getppid()
    words = _words(process)
    if subcommand(words) in ("exec", "e"):
        raise Refused(EXEC)
    home = next((str(lock.parent.parent) for lock in _locks(process)), os.environ.get("CODEX_HOME"))
    thread_id = named or live(process)
    if thread_id is None:
        return None
    record = _record(thread_id, Path(home or Path.home() / ".codex"))
    if record is None and named is None:
        return None  # it has not had a turn
    source = _source(record)
    if isinstance(source, dict) and "subagent" in source:
        raise Refused(SUBAGENT)
    if source == "exec" and not words:
        raise Refused(EXEC)  # what an exec began may go on in a terminal; here that cannot be seen
    return Thread(thread_id, _program(process), home)


def live(codex: int | None = None) -> str | None:
    """The thread that the process has, if it shows, and has but one."""
    found = [lock.stem for lock in _locks(codex or os.getppid())]
    return found[0] if len(found) == 1 else None


def subcommand(words: Sequence[str]) -> str | None:
    """The first word of a command line that is neither an option nor an option's value; a prompt too."""
    rest = iter(words[1:])
    for word in rest:
        if word in _WITH_VALUE:
            next(rest, None)
        elif not word.startswith("-"):
            return word
    return None


def _record(thread_id: str, home: Path) -> Path | None:
    return next(home.glob(f"sessions/*/*/*/rollout-*-{thread_id}.jsonl"), None)


def _source(record: Path | None) -> object:
    """What the thread's own record says began it."""
    if record is None:
        return None
    try:
        with record.open("rb") as file:
            return json.loads(file.readline(HEAD_BYTES))["payload"]["source"]
    except (OSError, ValueError, LookupError, TypeError):
        return None


def _words(process: int) -> list[str]:
    """The process's command line; empty where it is not shown."""
    try:
        shown = Path(f"/proc/{process}/cmdline").read_bytes().decode("utf-8", "replace").rstrip("\0")
        return shown.split("\0") if shown else []
    except OSError:
        pass
    try:
        ps = ["ps", "-o", "args=", "-p", str(process)]
        return subprocess.run(ps, capture_output=True, text=True, timeout=LOOK_S, check=True).stdout.split()
    except (OSError, subprocess.SubprocessError):
        return []


def _locks(process: int) -> Iterator[Path]:
    try:
        open_files = list(Path(f"/proc/{process}/fd").iterdir())
    except OSError:
        return
    for one in open_files:
        try:
            target = one.readlink()
        except OSError:
            continue
        if target.parent.name == LOCKS and target.suffix == ".lock":
            yield target


def _program(process: int) -> str:
    """The very program that runs the session, where the system tells it, else the one in PATH."""
    try:
        running = Path(f"/proc/{process}/exe").readlink()
    except OSError:
        running = Path()
    if running.name.startswith("codex") and os.access(running, os.X_OK):
        return str(running)
    found = shutil.which("codex")
    if found is None:
        raise Refused("there is no codex in PATH to queue it with")
    return found
