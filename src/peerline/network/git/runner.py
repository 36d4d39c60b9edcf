"""The one place that starts git: built environment, no shell, its own process group, limits of time and output."""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Final, NamedTuple

from peerline.core.fence import visible
from peerline.network.git.environment import find_git, git_environment
from peerline.network.git.errors import GitFailed, GitTimedOut, GitTooMuch
from peerline.network.git.user_config import UserConfig, user_config

_CHUNK: Final = 1 << 16
_ERROR_BYTES: Final = 1 << 14
_LOOK_S: Final = 0.25  # between two looks at how much a fetch has written


class Limits(NamedTuple):
    """`fetch_bytes`: what one fetch may write to the disk; `output_bytes`: what one command may print."""

    local_s: float = 30.0
    network_s: float = 120.0
    output_bytes: int = 64 << 20
    fetch_bytes: int = 2 << 30


class Done(NamedTuple):
    """A command that ended: its exit code, what it printed, and its complaint on one line, safe to show."""

    code: int
    out: bytes
    complaint: str


class Git:
    """Git for one bare repository; `protocol` is the only one it may speak to another."""

    def __init__(
        self,
        repository: Path,
        environ: Mapping[str, str],
        *,
        protocol: str,
        limits: Limits = Limits(),  # noqa: B008
        monotonic: Callable[[], float] = time.monotonic,
    ) -> None:
        self.repository, self.limits = repository, limits
        self._environ, self._protocol, self._monotonic = environ, protocol, monotonic
        self._path = find_git(environ)
        self._ours = repository.with_name("gitconfig")
        self._user: UserConfig | None = None
        self._local = git_environment(environ, Path("/dev/null"), "none", ssh=None)

    @property
    def user(self) -> UserConfig:
        """The allowed part of the user's configuration, read once."""
        if self._user is None:
            self._user = user_config(self._path, self._environ, self._ours)
        return self._user

    def run(self, *words: str, data: bytes = b"") -> Done:
        """Run a command on this machine's repository; it may talk to nobody.

        Raises:
            GitFailed: it ended with another code than 0.
            GitTimedOut, GitTooMuch: it was killed, with all that it started.
        """
        done = self._run(words, data, self._local, self.limits.local_s, watched=False)
        if done.code:
            raise GitFailed(f"git {_named(words)} failed: {done.complaint or f'exit code {done.code}'}")
        return done

    def succeeds(self, *words: str) -> bool:
        """Whether a command on this machine's repository ends with 0.

        Raises: GitTimedOut, GitTooMuch
        """
        return self._run(words, b"", self._local, self.limits.local_s, watched=False).code == 0

    def talk(self, *words: str, limit_s: float | None = None) -> Done:
        """Run a command that talks to the remote; its exit code is for the caller to judge.

        Raises:
            GitTimedOut, GitTooMuch
        """
        environ = git_environment(self._environ, self.user.path, self._protocol, ssh=self.user.ssh)
        return self._run(words, b"", environ, self.limits.network_s if limit_s is None else limit_s, watched=True)

    @contextmanager
    def stream(self, *words: str) -> Iterator[Iterator[bytes]]:
        """What a local command prints, piece by piece; it is killed when the block is left early, and when it is
        silent for too long.

        Raises:
            GitFailed, GitTimedOut
        """
        process = self._start(words, self._local, subprocess.DEVNULL)
        try:
            yield self._pieces(process, words)
        finally:
            end(process)

    def serve(self, *words: str) -> subprocess.Popen[bytes]:
        """A local process that answers on its pipes until its input is closed; the caller ends it."""
        return self._start(words, self._local, subprocess.PIPE, errors=subprocess.DEVNULL)

    def _pieces(self, process: subprocess.Popen[bytes], words: tuple[str, ...]) -> Iterator[bytes]:
        assert process.stdout is not None
        assert process.stderr is not None
        complaint = bytearray()
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ)
            waiting.register(process.stderr, selectors.EVENT_READ)
            while waiting.get_map():
                ready = waiting.select(self.limits.local_s)
                if not ready:
                    raise GitTimedOut(f"git {_named(words)} was silent for {self.limits.local_s:g} s and was ended")
                for key, _ in ready:
                    piece = os.read(key.fd, _CHUNK)
                    if not piece:
                        waiting.unregister(key.fileobj)
                    elif key.fileobj is process.stderr:
                        complaint += piece[: max(0, _ERROR_BYTES - len(complaint))]
                    else:
                        yield piece
        if process.wait():
            raise GitFailed(f"git {_named(words)} failed: {_shown(complaint) or f'exit code {process.returncode}'}")

    def _start(
        self, words: tuple[str, ...], environ: Mapping[str, str], stdin: int, errors: int = subprocess.PIPE
    ) -> subprocess.Popen[bytes]:
        return subprocess.Popen(
            [self._path, f"--git-dir={self.repository}", *words],
            env=environ, cwd="/", stdin=stdin, stdout=subprocess.PIPE, stderr=errors, start_new_session=True,
        )  # fmt: skip

    def _run(
        self, words: tuple[str, ...], data: bytes, environ: Mapping[str, str], limit_s: float, *, watched: bool
    ) -> Done:
        process = self._start(words, environ, subprocess.PIPE if data else subprocess.DEVNULL)
        try:
            return self._until_done(process, words, memoryview(data), self._monotonic() + limit_s, limit_s, watched)
        except (GitTimedOut, GitTooMuch):
            end(process)
            self.sweep()
            raise
        finally:
            end(process)

    def sweep(self) -> None:
        """Remove what killed commands left half-made. Who calls holds the network's lock: nobody is at it now."""
        for folder, pattern in (("objects/pack", "tmp_*"), ("objects", "tmp_*"), (".", "fast_import_crash_*")):
            for part in (self.repository / folder).glob(pattern):
                part.unlink(missing_ok=True)

    def _until_done(
        self,
        process: subprocess.Popen[bytes],
        words: tuple[str, ...],
        data: memoryview,
        deadline: float,
        limit_s: float,
        watched: bool,
    ) -> Done:
        assert process.stdout is not None
        assert process.stderr is not None
        out, complaint = bytearray(), bytearray()
        before = self._incoming() if watched else 0
        with selectors.DefaultSelector() as waiting:
            waiting.register(process.stdout, selectors.EVENT_READ, out)
            waiting.register(process.stderr, selectors.EVENT_READ, complaint)
            if process.stdin is not None:
                os.set_blocking(process.stdin.fileno(), False)
                waiting.register(process.stdin, selectors.EVENT_WRITE)
            while waiting.get_map():
                left = deadline - self._monotonic()
                if left <= 0:
                    raise GitTimedOut(f"git {_named(words)} took longer than {limit_s:g} s and was ended")
                ready = waiting.select(min(left, _LOOK_S) if watched else left)
                for key, _ in ready:
                    if key.fileobj is process.stdin:
                        data = _feed(process.stdin, data)
                        if not data:
                            waiting.unregister(key.fileobj)
                            process.stdin.close()
                        continue
                    piece = os.read(key.fd, _CHUNK)
                    if not piece:
                        waiting.unregister(key.fileobj)
                    elif key.data is complaint:
                        complaint += piece[: max(0, _ERROR_BYTES - len(complaint))]
                    else:
                        out += piece
                        if len(out) > self.limits.output_bytes:
                            raise GitTooMuch(f"git {_named(words)} printed more than {self.limits.output_bytes} bytes")
                if watched and not ready:
                    written = self._incoming()
                    if written - before > self.limits.fetch_bytes:
                        raise GitTooMuch(f"the remote sends more than {self.limits.fetch_bytes} bytes at once")
        try:
            code = process.wait(max(deadline - self._monotonic(), 1.0))
        except subprocess.TimeoutExpired:
            raise GitTimedOut(f"git {_named(words)} did not end and was ended") from None
        return Done(code, bytes(out), _shown(complaint))

    def _incoming(self) -> int:
        """Bytes of packs that are on their way in."""
        total = 0
        for part in (self.repository / "objects" / "pack").glob("tmp_*"):
            try:
                total += part.stat().st_size
            except OSError:
                pass  # it has just got its name
        return total


def _named(words: tuple[str, ...]) -> str:
    """The command, without the settings before it."""
    return words[2] if words[0] == "-c" else words[0]


def _feed(pipe: IO[bytes], data: memoryview) -> memoryview:
    try:
        return data[os.write(pipe.fileno(), data[:_CHUNK]) :]
    except BlockingIOError:
        return data
    except BrokenPipeError:
        return data[:0]  # it has ended; its exit code says why


def end(process: subprocess.Popen[bytes]) -> None:
    """Kill it and all it started, unless it has ended; collect it."""
    for pipe in (process.stdin, process.stdout, process.stderr):
        if pipe is not None:
            try:
                pipe.close()
            except BrokenPipeError:
                pass
    if process.poll() is None:
        try:
            os.killpg(process.pid, signal.SIGKILL)
        except ProcessLookupError:
            pass
        process.wait()


def _shown(complaint: bytes | bytearray) -> str:
    """A complaint of git, or of a remote through it, on one line."""
    lines = [line.strip() for line in complaint.decode("utf-8", "replace").splitlines()]
    return visible("; ".join(line for line in lines if line), 400)
