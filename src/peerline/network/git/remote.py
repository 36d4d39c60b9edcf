"""Talking to the remote: what branches it has, getting them, and the push that is the compare-and-swap."""

import re
from collections.abc import Iterable, Sequence
from typing import Final, NamedTuple

from peerline.network.git.branches import BRANCH, HEADS, MAIN, OID, SEEN
from peerline.network.git.errors import (
    Contended,
    GitTimedOut,
    GitTooMuch,
    RemoteFailed,
    RemoteNotAllowed,
    RemoteRefused,
    RemoteUnreachable,
)
from peerline.network.git.runner import Done, Git

_AT_ONCE: Final = 200  # branches in one command line
# Somebody else was first: seen by us before the push, or by the far end while it took it.
_MOVED: Final = (
    r"non-fast-forward|fetch first|stale info|failed to update ref|cannot lock ref|failed to lock|incorrect old value"
    r"|reference already exists|needs force|unable to (?:resolve|create|lock) reference"
)
_DOOR: Final = (
    r"permission denied|authentication failed|could not read (?:username|password)|terminal prompts disabled"
    r"|host key verification failed|access denied|not authorized|http basic|error: 40[13]\b|returned error: 40[13]"
    r"|dubious ownership|credentials"
)


def heads(git: Git, limit_s: float | None = None) -> dict[str, str]:
    """The remote's branches that belong to the network, with their commits: one `ls-remote`.

    Raises:
        RemoteFailed
    """
    done = _talk(git, limit_s, "ls-remote", "--quiet", "--", "origin", f"{HEADS}{MAIN}", f"{HEADS}room/*")
    found: dict[str, str] = {}
    for line in done.decode("utf-8", "replace").splitlines():
        oid, _, ref = line.partition("\t")
        branch = ref.removeprefix(HEADS)
        if ref.startswith(HEADS) and BRANCH.fullmatch(branch) and OID.fullmatch(oid):
            found[branch] = oid
    return found


def fetch(git: Git, branches: Sequence[str], limit_s: float | None = None) -> dict[str, RemoteFailed]:
    """Get the branches, also rewritten ones; returns what could not be got and why.

    One branch that can't be taken keeps no other away: after a failure each is tried by itself.

    Raises:
        RemoteFailed: the remote as a whole does not answer.
    """
    failed: dict[str, RemoteFailed] = {}
    for first in range(0, len(branches), _AT_ONCE):
        group = branches[first : first + _AT_ONCE]
        try:
            _fetch(git, group, limit_s)
        except RemoteNotAllowed:
            raise
        except RemoteFailed as error:
            if len(group) == 1:
                failed[group[0]] = error
                continue
            for branch in group:
                try:
                    _fetch(git, [branch], limit_s)
                except RemoteNotAllowed:
                    raise
                except RemoteFailed as alone:
                    failed[branch] = alone
    if branches and len(failed) == len(branches):
        heads(git, limit_s)  # does it answer at all?
    return failed


class Move(NamedTuple):
    """A branch that is to go from `old` (None: that must not be there yet) to `new`, which is built on it."""

    branch: str
    old: str | None
    new: str


def push(git: Git, moves: Sequence[Move], limit_s: float | None = None) -> dict[str, RemoteFailed | None]:
    """Move each branch if the remote has it where we think; returns for each why not, or None.

    It is never created where it was, nor moved from anywhere else: a branch that somebody deleted stays deleted.

    Raises:
        RemoteFailed: nothing can be said about any branch; the push may have happened.
    """
    branches = {move.branch for move in moves}
    words = ["push", "--porcelain", "--no-verify", "--no-follow-tags", "--no-signed", "--recurse-submodules=no"]
    words += [f"--force-with-lease={HEADS}{move.branch}:{move.old or ''}" for move in moves]
    done = _tried(git, limit_s, *words, "--", "origin", *(f"{move.new}:{HEADS}{move.branch}" for move in moves))
    outcome: dict[str, RemoteFailed | None] = {}
    for line in done.out.decode("utf-8", "replace").splitlines():
        flag, _, rest = line.partition("\t")
        names, _, summary = rest.partition("\t")
        branch = names.partition(":")[2].removeprefix(HEADS)
        if len(flag) == 1 and branch in branches:
            outcome[branch] = _refusal(summary, done.complaint) if flag == "!" else None
    if len(outcome) < len(branches):
        raise _failure(done.complaint or f"git push ended with {done.code}")
    return outcome


def _refusal(summary: str, complaint: str) -> RemoteFailed:
    if _says(_MOVED, summary):
        return Contended("somebody else pushed first")
    if "remote rejected" in summary and not _says(_DOOR, summary):
        said = [line.removeprefix("remote: ") for line in complaint.split("; ") if line.startswith("remote: ")]
        reason = summary.partition("(")[2].rstrip(")") or "no reason given"
        return RemoteRefused(f"the remote refused it: {reason}{': ' + '; '.join(said) if said else ''}"[:300])
    return _failure(complaint or summary)


def _fetch(git: Git, branches: Iterable[str], limit_s: float | None) -> None:
    wanted = [f"+{HEADS}{branch}:{SEEN}{branch}" for branch in branches]
    _talk(
        git, limit_s, "fetch", "--quiet", "--no-tags", "--no-recurse-submodules", "--no-write-fetch-head",
        "--no-auto-maintenance", "--", "origin", *wanted,
    )  # fmt: skip


def _talk(git: Git, limit_s: float | None, *words: str) -> bytes:
    done = _tried(git, limit_s, *words)
    if done.code:
        raise _failure(done.complaint or f"git {words[0]} ended with {done.code}")
    return done.out


def _tried(git: Git, limit_s: float | None, *words: str) -> Done:
    try:
        return git.talk(*words, limit_s=limit_s)
    except (GitTimedOut, GitTooMuch) as error:
        raise RemoteUnreachable(error.text) from None


def _says(words: str, text: str) -> bool:
    """Compiled where it is needed: a remote that answers complains of nothing."""
    return re.search(words, text, re.IGNORECASE) is not None


def _failure(complaint: str) -> RemoteFailed:
    if "dubious ownership" in complaint:
        return RemoteNotAllowed(
            f"{complaint}; the repository belongs to another user: git takes it once its owner has shared it with "
            "'git config --global --add safe.directory PATH' for this user"
        )
    if "find remote ref" in complaint:
        return RemoteUnreachable(f"the remote has no such branch any more: {complaint}")
    if _says(_DOOR, complaint):
        return RemoteNotAllowed(f"the remote does not let us in: {complaint}")
    return RemoteUnreachable(f"the remote does not answer: {complaint}")
