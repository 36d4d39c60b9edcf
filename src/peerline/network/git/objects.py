"""Reading blobs through one `git cat-file` process: sizes first, then contents, never more than is taken."""

import subprocess
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from types import TracebackType
from typing import Final

from peerline.network.git.branches import OID
from peerline.network.git.errors import GitFailed
from peerline.network.git.runner import Git, end

_AT_ONCE: Final = 256  # objects asked for together: their requests fit into a pipe
_BYTES_AT_ONCE: Final = 4 << 20


class Objects:
    """One process for as many reads as wanted. Not for two threads at once."""

    def __init__(self, git: Git) -> None:
        self._git = git
        self._process: subprocess.Popen[bytes] | None = None

    def blobs(self, oids: Iterable[str], at_most: int) -> Iterator[tuple[str, bytes | None]]:
        """Each blob in order; None for one that is larger than `at_most` bytes, is no blob, or is not here.

        Raises:
            GitFailed: the process ended.
        """
        todo = iter(oids)
        while names := list(islice(todo, _AT_ONCE)):
            sizes = self._sizes(names)
            for span in _spans(sizes, at_most):
                yield from self._contents(names[span], sizes[span], at_most)

    def named(self, name: str, at_most: int) -> bytes | None:
        """The blob that `<commit>:<path>` names, under the same rules. The path is ours, never a stranger's.

        Raises: GitFailed
        """
        found = self._ask([f"info {name}"])[0].split(" ")
        if len(found) != 3 or found[1] != "blob" or int(found[2]) > at_most:
            return None
        return next(self.blobs([found[0]], at_most))[1]

    def has(self, oid: str) -> bool:
        """Whether the object is here.

        Raises: GitFailed
        """
        return not self._ask([f"info {oid}"])[0].endswith(" missing")

    def close(self) -> None:
        if self._process is not None:
            end(self._process)
            self._process = None

    def __enter__(self) -> "Objects":
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _sizes(self, oids: Sequence[str]) -> list[int]:
        """-1 for what is no blob or not here."""
        assert all(OID.fullmatch(oid) for oid in oids)
        sizes = []
        for line in self._ask([f"info {oid}" for oid in oids]):
            words = line.split(" ")
            sizes.append(int(words[2]) if len(words) == 3 and words[1] == "blob" else -1)
        return sizes

    def _ask(self, questions: Sequence[str]) -> list[str]:
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write("\n".join([*questions, "flush\n"]).encode())
            process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None
        lines = [process.stdout.readline() for _ in questions]
        if not lines[-1].endswith(b"\n"):
            raise self._ended()
        return [line.decode("utf-8", "replace").rstrip("\n") for line in lines]

    def _contents(self, oids: Sequence[str], sizes: Sequence[int], at_most: int) -> list[tuple[str, bytes | None]]:
        taken = [0 <= size <= at_most for size in sizes]
        process = self._running()
        assert process.stdin is not None
        assert process.stdout is not None
        wanted = [f"contents {oid}" for oid, take in zip(oids, taken, strict=True) if take]
        try:
            process.stdin.write("\n".join([*wanted, "flush\n"]).encode())
            process.stdin.flush()
        except BrokenPipeError:
            raise self._ended() from None
        found: list[tuple[str, bytes | None]] = []
        for oid, size, take in zip(oids, sizes, taken, strict=True):
            if not take:
                found.append((oid, None))
                continue
            head = process.stdout.readline()
            data = process.stdout.read(size + 1)
            if not head.startswith(oid.encode()) or len(data) != size + 1:
                raise self._ended()
            found.append((oid, data[:-1]))
        return found

    def _running(self) -> subprocess.Popen[bytes]:
        if self._process is None or self._process.poll() is not None:
            self.close()
            self._process = self._git.serve("cat-file", "--batch-command", "--buffer")
        return self._process

    def _ended(self) -> GitFailed:
        self.close()
        return GitFailed("git cat-file ended while it was being read; the local copy may be damaged")


def _spans(sizes: Sequence[int], at_most: int) -> Iterator[slice]:
    """Neighbours that together are not too large to hold."""
    first = held = 0
    for place, size in enumerate(sizes):
        size = size if size <= at_most else 0
        if held + size > _BYTES_AT_ONCE and place > first:
            yield slice(first, place)
            first, held = place, 0
        held += max(size, 0)
    yield slice(first, len(sizes))
