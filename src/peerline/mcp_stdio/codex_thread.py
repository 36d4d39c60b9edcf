"""Which Codex thread this server belongs to, and whether a line queued for it would ever be read.

Codex starts its servers itself, without the variables that name the thread or its home. It does hold a lock file per
live thread, open, in its home: where the system shows a process's open files, these tell both before any tool call.
"""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Final

LOCKS: Final = "thread-writer-locks"
HEAD_BYTES: Final = 1 << 20
EXEC: Final = "the session is a `codex exec`, which loses what is queued for it"
SUBAGENT: Final = "the thread is a Codex subagent's, which takes no messages"


class Refused(Exception):
    """Nothing may be queued for this session; the text says why."""


@dataclass(frozen=True, slots=True)
class Thread:
    """`home` is None where Codex's own default has to do."""

    id: str
    program: str
    home: str | None


def find(named: str | None, parent: int | None = None) -> Thread | None:
    """The thread that lines can be queued for; `named` is the id that Codex gave, if it did. None: not known yet.

    Raises:
        Refused: what is queued there would be lost, or there is no program to queue with.
    """
    process = Path(f"/proc/{parent or os.getppid()}")
    if "exec" in _words(process)[1:3]:
        raise Refused(EXEC)
    locks = list(_locks(process))
    home = next((str(lock.parent.parent) for lock in locks), os.environ.get("CODEX_HOME"))
    thread_id = named or (locks[0].stem if len(locks) == 1 else None)
    if thread_id is None:
        return None
    refuse_source(thread_id, Path(home or Path.home() / ".codex"))
    return Thread(thread_id, _program(process), home)


def refuse_source(thread_id: str, home: Path) -> None:
    """Look into the thread's own record, which says what started it.

    Raises:
        Refused: `codex exec` or another agent did.
    """
    source = _source(thread_id, home)
    if source == "exec":
        raise Refused(EXEC)
    if isinstance(source, dict) and "subagent" in source:
        raise Refused(SUBAGENT)


def _source(thread_id: str, home: Path) -> object:
    for path in home.glob(f"sessions/*/*/*/rollout-*-{thread_id}.jsonl"):
        try:
            with path.open("rb") as file:
                head = json.loads(file.readline(HEAD_BYTES))
            return head["payload"]["source"]
        except (OSError, ValueError, LookupError, TypeError):
            continue
    return None


def _words(process: Path) -> list[str]:
    try:
        return (process / "cmdline").read_bytes().decode("utf-8", "replace").split("\0")
    except OSError:
        return []


def _locks(process: Path) -> Iterator[Path]:
    try:
        open_files = list((process / "fd").iterdir())
    except OSError:
        return
    for one in open_files:
        try:
            target = one.readlink()
        except OSError:
            continue
        if target.parent.name == LOCKS and target.suffix == ".lock":
            yield target


def _program(process: Path) -> str:
    """The very program that runs the session, where the system tells it, else the one in PATH."""
    try:
        running = (process / "exe").readlink()
    except OSError:
        running = Path()
    if running.name.startswith("codex") and os.access(running, os.X_OK):
        return str(running)
    found = shutil.which("codex")
    if found is None:
        raise Refused("there is no codex in PATH to queue it with")
    return found
