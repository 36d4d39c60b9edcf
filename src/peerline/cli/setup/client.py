"""What `peerline setup` knows of one client: how to find it, and which entries go into which of its files."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from peerline.cli.setup.entry import Dialect, Entry
from peerline.cli.setup.json_text import JSON

Env = Mapping[str, str]
OPENING: Final = "peerline setup begins a conversation"


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """One file of a client and what belongs into it."""

    path: Path
    entries: tuple[Entry, ...]
    dialect: Dialect = JSON


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """How a session is begun on a terminal with a stand-in for its model: words behind the program, variables, and
    what its user would have chosen before, by file: members for a JSON file, else lines at its head. `opening`: what
    its user says first, where a session can be woken only after a first turn. `waits`: it stays and can be woken; one
    that does not ends with its turn, and the next one is told."""

    words: tuple[str, ...]
    env: dict[str, str]
    files: dict[Path, Any]
    opening: str = ""
    waits: bool = True


@dataclass(frozen=True, slots=True, kw_only=True)
class Client:
    """`parts` works out the files from the environment and the path of `kxm`; `woken` says how a session is woken.

    `otherwise` is said where no file needs anything, because the client has it by another way. `listed` is a
    pattern for what the client's command `asked` says when all is well; `connects`: it tries the server to say so.
    `session` begins one, given the environment of a trial and the address of its model; `unwoken`: why there is none.
    """

    name: str
    title: str
    programs: tuple[str, ...]
    parts: Callable[[Env, str], list[Part]]
    woken: str
    otherwise: str = ""
    asked: tuple[str, ...] = ("mcp", "list")
    listed: str = ""
    connects: bool = True
    session: Callable[[Env, str], Session] | None = None
    unwoken: str = ""

    def program(self, env: Env) -> str | None:
        """Where the client is, if it is on the PATH."""
        for name in self.programs:
            if path := shutil.which(name, path=env.get("PATH", "")):
                return path
        return None


def home(env: Env) -> Path:
    return Path(env["HOME"]) if env.get("HOME") else Path.home()


def folder(env: Env, variable: str, default: str) -> Path:
    """The folder that a variable names, else one below the home folder."""
    return Path(env[variable]) if env.get(variable) else home(env) / default


def snippet(part: Part) -> str:
    """The part's file as it is when nothing else is in it."""
    text = ""
    for entry in part.entries:
        text, _ = part.dialect.insert(text, entry)
    return text
