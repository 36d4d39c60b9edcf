"""What happened on a branch, commit by commit: which paths were added, changed, deleted, and by whom.

Trees are never compared: a file that was added and pruned between two looks would not be seen (spec/network.md 15.2-8).
"""

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Final

from peerline.network.git.branches import OID
from peerline.network.git.errors import GitFailed
from peerline.network.git.runner import Git

FILE: Final = "100644"
PATH_BYTES: Final = 1_024  # ours have fewer than 200
_TOKEN_BYTES: Final = 8 << 20
_LOG: Final = (
    "log", "--reverse", "--topo-order", "-m", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff",
    "--no-textconv", "--format=%x01%H%x00%ae%x00%P",
)  # fmt: skip
_DIFF_TREE: Final = (
    "diff-tree", "-r", "--raw", "-z", "--no-abbrev", "--no-renames", "--no-ext-diff", "--no-textconv",
)  # fmt: skip
_LS_TREE: Final = ("ls-tree", "-r", "-z", "--full-tree")


@dataclass(frozen=True, slots=True)
class Change:
    """One path in one commit. `status` is git's letter: A, D, M or T; `mode` and `oid` are the new ones. `path` is
    None when it is too long or is no UTF-8."""

    commit: str
    email: str
    status: str
    mode: str
    oid: str
    path: str | None


def contains(git: Git, new: str, old: str) -> bool:
    """Whether `new` was built on `old`; False too when `old` isn't here any more.

    Raises: GitFailed
    """
    return new == old or git.succeeds("merge-base", "--is-ancestor", old, new)


def changes(git: Git, new: str, old: str | None = None, parents: set[str] | None = None) -> Iterator[Change]:
    """Every change in the commits that `new` has and `old` has not, parents before children.

    A commit that joins two lines is compared with each, so that the same path can come twice. `parents` takes up the
    parents of all these commits: `old` is among them if, and only if, `new` was built on it.

    Raises:
        GitFailed: a commit isn't here.
    """
    assert OID.fullmatch(new)
    assert old is None or OID.fullmatch(old)
    with git.stream(*_LOG, new, *([f"^{old}"] if old else []), "--") as pieces:
        commit = email = ""
        tokens = _tokens(pieces)
        for token in tokens:
            token = token.lstrip(b"\n")
            if token.startswith(b"\x01"):
                commit = token[1:].decode()
                email = next(tokens, b"").decode("utf-8", "replace")
                if parents is not None:
                    parents.update(next(tokens, b"").decode("ascii", "replace").split(" "))
                else:
                    next(tokens, b"")
            elif token.startswith(b":"):
                words = token.decode("ascii", "replace").split(" ")
                path = next(tokens, b"")
                if len(words) != 5:
                    raise GitFailed("git log printed what it should not")
                yield Change(commit, email, words[4][:1], words[1], words[3], _path(path))
            elif token:
                raise GitFailed("git log printed what it should not")


def tree_changes(git: Git, new: str, old: str | None) -> Iterator[Change]:
    """What differs between two states: for `main`, where only the present counts. Without `old`: all there is."""
    assert OID.fullmatch(new)
    assert old is None or OID.fullmatch(old)
    with git.stream(*(_DIFF_TREE if old else _LS_TREE), *([old] if old else []), new) as pieces:
        tokens = _tokens(pieces)
        for token in tokens:
            if old is None:
                head, _, name = token.partition(b"\t")
                mode, _, oid = head.decode("ascii", "replace").split(" ", 2)
                yield Change(new, "", "A", mode, oid, _path(name))
            else:
                words5 = token.decode("ascii", "replace").split(" ")
                yield Change(new, "", words5[4][:1], words5[1], words5[3], _path(next(tokens, b"")))


def _tokens(pieces: Iterable[bytes]) -> Iterator[bytes]:
    """What stands between NULs; one that is too long is cut."""
    left = bytearray()
    for piece in pieces:
        *whole, rest = piece.split(b"\0")
        for token in whole:
            left += token[: max(0, _TOKEN_BYTES - len(left))]
            yield bytes(left)
            left.clear()
        left += rest[: max(0, _TOKEN_BYTES - len(left))]
    if left:
        yield bytes(left)


def _path(raw: bytes) -> str | None:
    if len(raw) > PATH_BYTES:
        return None
    try:
        return raw.decode()
    except UnicodeDecodeError:
        return None
