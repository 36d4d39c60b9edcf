"""What one worker is told to run: worked out by the command line, then fixed for its life."""

from dataclasses import dataclass
from pathlib import Path

from peerline.core.ids import Millis

DEFAULT_SCOPE = "default"


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """`command` starts the harness, `kxm` starts `kxm`; `models` begins with the one to use first, and may be empty.

    `isolation` gives each workflow run a session of its own. `resume` goes on with the sessions of earlier starts;
    `resume_first` says so of the very first start. `max_restarts` None: no limit. `tool_timeout` 0: no limit.
    """

    harness: str
    name: str
    project: str
    folder: Path
    command: tuple[str, ...]
    kxm: tuple[str, ...]
    arguments: tuple[str, ...] = ()
    models: tuple[str, ...] = ()
    tools: tuple[str, ...] = ()
    extensions: tuple[str, ...] = ()
    skills: tuple[str, ...] = ()
    isolation: bool = False
    max_run_sessions: int = 128
    resume: bool = True
    resume_first: bool = True
    tool_timeout: Millis = 1_860_000
    activation_timeout: Millis = 60_000
    drain: Millis = 15_000
    provider_retry: Millis = 60_000
    max_restarts: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Launch:
    """One start of the harness: in which session, with which model, and whether that session has a history.

    `start` is another random word for each.
    """

    session: str
    resumes: bool
    model: str | None
    label: str
    sessions: Path
    start: str
