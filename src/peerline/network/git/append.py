"""Commits written without a work tree, by `git fast-import`: files put onto a branch's tip, nothing else touched."""

from collections.abc import Mapping, Sequence
from typing import Final, NamedTuple

from peerline.core.ids import Millis
from peerline.network.git.branches import BRANCH, BUILT, OID
from peerline.network.git.errors import GitFailed
from peerline.network.git.runner import Git

# What is built here is at the remote a moment later or is built anew from the outbox: no disk need be waited for.
_UNSYNCED: Final = ("-c", "core.fsync=none")
_NAME: Final = str.maketrans(dict.fromkeys("<>\n\r\0"))


class Author(NamedTuple):
    """Who a commit is by: what the authenticity mode `git` compares (spec/network.md 3.8)."""

    name: str
    email: str


class Addition(NamedTuple):
    """One commit on `branch`: `files` by path, on top of `tip`; without a tip it is a root."""

    branch: str
    tip: str | None
    message: str
    files: Mapping[str, bytes]


def append(git: Git, additions: Sequence[Addition], author: Author, now: Millis) -> dict[str, str]:
    """Write one commit for each addition; returns the new commit by branch. Nothing is pushed, and no branch that
    says what the remote has is moved.

    Raises:
        GitFailed: a tip isn't here, the disk is full.
    """
    who = f"{_field(author.name)} <{_field(author.email)}> {now // 1000} +0000\n"
    stream = bytearray()
    for number, addition in enumerate(additions, 1):
        assert BRANCH.fullmatch(addition.branch)
        assert addition.tip is None or OID.fullmatch(addition.tip)
        message = addition.message.encode()
        stream += f"commit {BUILT}{addition.branch}\nmark :{number}\nauthor {who}committer {who}".encode()
        stream += b"data %d\n%b\n" % (len(message), message)
        if addition.tip is not None:
            stream += f"from {addition.tip}\n".encode()
        for path, data in sorted(addition.files.items()):
            assert path.isprintable()
            assert not path.startswith(("/", '"'))
            stream += f"M 100644 inline {path}\n".encode()
            stream += b"data %d\n%b\n" % (len(data), data)
        stream += f"\nget-mark :{number}\n".encode()
    stream += b"done\n"
    done = git.run(*_UNSYNCED, "fast-import", "--quiet", "--done", "--force", "--date-format=raw", data=bytes(stream))
    made = done.out.decode().split()
    if len(made) != len(additions) or not all(OID.fullmatch(oid) for oid in made):
        raise GitFailed(f"git fast-import wrote {len(made)} of {len(additions)} commits")
    return {addition.branch: oid for addition, oid in zip(additions, made, strict=True)}


def _field(text: str) -> str:
    """A name or address as git takes it: angle brackets and line breaks are left out."""
    return text.translate(_NAME).strip() or "unknown"
