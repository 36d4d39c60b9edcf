"""What git, or the far end, did not do: each with what to do next; nothing of them loses a queued post.

GitFailed                  git on this machine
├── GitNotFound
├── GitTimedOut
└── GitTooMuch             more output, or a larger fetch, than is taken
RemoteFailed               the far end
├── RemoteUnreachable      no answer, or none in time: worth another try later
├── RemoteNotAllowed       it does not let us in: not worth another try before somebody acts
├── RemoteRefused          its hook or its rules refused the push
└── Contended              somebody else pushed first: build anew on their tip
"""

from peerline.core.errors import Invalid, Unavailable


class BadRemote(Invalid):
    """The remote's address is none of the forms that are allowed."""

    code = "BAD_REMOTE"


class GitFailed(Unavailable):
    code = "GIT_FAILED"


class GitNotFound(GitFailed):
    code = "GIT_NOT_FOUND"


class GitTimedOut(GitFailed):
    code = "GIT_TIMED_OUT"


class GitTooMuch(GitFailed):
    code = "GIT_TOO_MUCH"


class RemoteFailed(Unavailable):
    code = "REMOTE_FAILED"


class RemoteUnreachable(RemoteFailed):
    code = "REMOTE_UNREACHABLE"


class RemoteNotAllowed(RemoteFailed):
    code = "REMOTE_NOT_ALLOWED"


class RemoteRefused(RemoteFailed):
    code = "REMOTE_REFUSED"


class Contended(RemoteFailed):
    code = "REMOTE_MOVED"
