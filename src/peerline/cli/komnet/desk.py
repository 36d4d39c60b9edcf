"""What every `komnet` command works with: who acts, where, and how it speaks."""

import os
import sys
import time
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from peerline.cli.hot_output import READER_GONE, USAGE, Failure, usage, write
from peerline.cli.komnet.parse import Call
from peerline.core.errors import PeerlineError
from peerline.core.fence import visible
from peerline.network.calls import Calls, connect
from peerline.network.home import Home
from peerline.network.identity import AmbiguousIdentity, IdentityMismatch, acting_home

if TYPE_CHECKING:
    from peerline.network.direct import DirectCalls

UNCLEAR_IDENTITY: Final = 6
# Whatever way the call went: a kind, need, priority or id that can't be written.
NOT_UNDERSTOOD: Final = frozenset(("INVALID_POST", "INVALID_IDENTIFIER", "INVALID_PARAMS", "UNREADABLE_REQUEST"))
BODY_AT_MOST: Final = 4 * 1024 * 1024  # what is read of a file; the scanner's limit for a message is far below


class Desk:
    """One command's surroundings: `call` is the parsed line, `env` the variables, `home` whose words these are."""

    def __init__(self, call: Call, env: Mapping[str, str]) -> None:
        """Raises: IdentityMismatch, AmbiguousIdentity."""
        self.call, self.env = call, env
        self.home: Home = acting_home(call.text("--agent"), env, call.command.split()[0])

    def now(self) -> int:
        return time.time_ns() // 1_000_000

    def calls(self) -> Calls:
        """The daemon's socket where one runs for this agent, else this process.

        Raises:
            NotConfigured, BrokenConfig
        """
        if self.call.flag("--direct"):
            return self.direct()
        return connect(self.home, now=self.now, entropy=os.urandom, environ=self.env)

    def direct(self) -> "DirectCalls":
        """This process, also where a daemon runs.

        Raises:
            NotConfigured, BrokenConfig
        """
        from peerline.network.direct import DirectCalls  # only here: a command that a daemon answers needs no engine

        return DirectCalls(self.home, now=self.now, entropy=os.urandom, environ=self.env)

    def ask(self, method: str, **params: Any) -> Any:
        """One operation, in the network that `--network` names; members that are None are left out.

        What a person at this terminal allowed (`--force-unsafe`) is done here: no socket can say it for them.
        """
        given = {name: value for name, value in params.items() if value is not None}
        calls = self.direct() if "--force-unsafe" in self.call.given else self.calls()
        return calls.call(method, given, self.call.text("--network"))

    def body(self, word: str = "TEXT") -> str:
        """The text from the words, `--file` or standard input.

        Raises:
            Failure: two of them, a file that can't be read or is no UTF-8.
        """
        text, file = self.call.words.get(word), self.call.text("--file")
        if file is not None and text is not None:
            raise usage("the text comes from the words or from --file, not from both")
        if file is None and text != "-":
            return text or ""
        try:
            data = sys.stdin.buffer.read(BODY_AT_MOST) if file is None else _read(Path(file))
        except OSError as error:
            raise Failure(f"{file or 'standard input'} could not be read: {error.strerror}") from None
        try:
            return data.decode()
        except UnicodeDecodeError:
            raise Failure(f"{file or 'standard input'} is not UTF-8 text") from None

    def show(self, lines: Sequence[str], value: Any, code: int = 0) -> int:
        """Print the lines, or with `--json` the value; the exit code."""
        text = _json(value, indent=2) if self.call.as_json else "\n".join(lines)
        if text:
            try:
                write(1, text + "\n")
            except BrokenPipeError:
                return READER_GONE
        return code

    def line(self, text: str) -> None:
        """One line of many, at once."""
        write(1, text + "\n")

    def aside(self, lines: Sequence[str]) -> None:
        """What is worth knowing but no result: on stderr."""
        if lines:
            write(2, "\n".join(lines) + "\n")


def refused(error: PeerlineError | Failure, *, as_json: bool) -> int:
    """Tell why a command failed, on stderr; the exit code."""
    if isinstance(error, Failure):
        code, text, name, extras = error.exit_code, error.detail, error.error, error.more
    else:
        code, text, name, extras = exit_code(error), error.text, error.code, error.extras
    if as_json:
        write(2, _json({"ok": False, "error": name, "detail": text, **extras}) + "\n")
        return code
    shown = "\n".join(visible(line, 1_000) for line in text.split("\n"))
    write(2, f"error: {shown}\n")
    for finding in extras.get("findings", ()):
        write(2, f"  {finding['rule']} at {finding['where']} line {finding['line']}, column {finding['column']}\n")
    if extras.get("nextAction"):
        write(2, f"  {visible(str(extras['nextAction']), 1_000)}\n")
    if code == 2:
        write(2, "Run 'komnet --help' for usage.\n")
    return code


def exit_code(error: PeerlineError) -> int:
    """Spec/network.md 7: 2 for what was not understood, 6 for an unclear identity, else 1."""
    if isinstance(error, IdentityMismatch | AmbiguousIdentity):
        return UNCLEAR_IDENTITY
    return USAGE if error.code in NOT_UNDERSTOOD else 1


def _json(value: Any, indent: int | None = None) -> str:
    import json  # here: most commands print text

    return json.dumps(value, indent=indent, ensure_ascii=False)


def _read(file: Path) -> bytes:
    with file.open("rb") as stream:
        return stream.read(BODY_AT_MOST)
