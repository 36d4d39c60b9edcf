"""What a hot command prints: one JSON object, to stdout when it went well, to stderr when not (spec/hub.md 6.1)."""

from __future__ import annotations

import os
import sys

from peerline.cli.hot_json import pretty, shown

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

EBADF = 9
SCHEMA = "kxm.cli-result.v1"
FAILED, USAGE, INTERRUPTED, READER_GONE = 1, 2, 130, 141
SECRET_NAMES = ("TOKEN", "SECRET", "KEY", "PASSWORD")


class Failure(Exception):
    """The command ends here; `more` is told only with --json, `beside` always."""

    def __init__(
        self,
        detail: str,
        *,
        error: str = "command_failed",
        exit_code: int = FAILED,
        beside: dict[str, Any] | None = None,
        more: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(detail)
        self.detail = detail
        self.error = error
        self.exit_code = exit_code
        self.beside = beside or {}
        self.more = more or {}


def usage(detail: str) -> Failure:
    return Failure(detail, error="usage_error", exit_code=USAGE)


class Output:
    def __init__(self, env: dict[str, str], *, as_json: bool = False, command: str = "") -> None:
        self.as_json = as_json
        self.command = command
        self._secrets = _secrets(env)

    def result(self, value: dict[str, Any]) -> int:
        """Print the result object; the exit code."""
        return self._out(pretty({"schema": SCHEMA, **value} if self.as_json else value))

    def text(self, text: str) -> int:
        """Print a line for a person; the exit code."""
        return self._out(text)

    def failure(self, failure: Failure) -> int:
        """Print why the command failed; the exit code."""
        body: dict[str, Any] = {"ok": False, "error": failure.error}
        if self.as_json:
            body = {"schema": SCHEMA, **body, "command": self.command}
        body |= {"detail": failure.detail, **failure.beside, **(failure.more if self.as_json else {})}
        if self.as_json and failure.error == "usage_error":
            self._out(shown(body))
        else:
            write(2, self.redacted(shown(body)) + "\n")
        return failure.exit_code

    def unprinted(self, failure: Failure) -> int:
        """Tell that stdout did not take the result; the exit code."""
        return self.failure(failure)

    def redacted(self, text: str) -> str:
        for secret in self._secrets:
            text = text.replace(secret, "[redacted]")
        return text

    def _out(self, text: str) -> int:
        try:
            write(1, self.redacted(text) + "\n")
        except BrokenPipeError:
            return READER_GONE
        except OSError as error:
            return self.unprinted(Failure(f"the result could not be printed: {error.strerror}"))
        return 0


def write(fd: int, text: str) -> None:
    """Write all of `text` as UTF-8, whatever the locale.

    Raises:
        OSError: stdout was closed, its reader is gone or its disk is full; the same on stderr is nobody's to tell.
    """
    stream = sys.stdout if fd == 1 else sys.stderr
    try:
        if stream is None:
            raise OSError(EBADF, "it is closed")
        stream.flush()
        try:
            fd = stream.fileno()
        except ValueError:  # a test's stand-in has none
            stream.write(text)
            return
        data = text.encode("utf-8", "backslashreplace")
        while data:
            data = data[os.write(fd, data) :]
    except OSError:
        if stream is sys.stdout:
            raise


def _secrets(env: dict[str, str]) -> list[str]:
    """Values not to print. Short ones of foreign variables are words, not secrets (`KEY_LAYOUT=us`)."""
    return [
        value
        for name, value in env.items()
        if any(part in name for part in SECRET_NAMES) and len(value) >= (6 if name.startswith("KXM_") else 16)
    ]
