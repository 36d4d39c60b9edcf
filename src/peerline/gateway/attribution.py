"""How the words of a session go out: named as relayed, and recognised when they were refused before."""

import hashlib
from typing import Final

from peerline.core.errors import PeerlineError

RELAY_TAG: Final = "relay"


class RefusedBefore(PeerlineError):
    """The same words were refused to another session: they do not go out by way of this one."""

    code = "REFUSED_BEFORE"

    def __init__(self) -> None:
        super().__init__(
            "these words were refused when another session asked for them, so they are not sent by way of this one; "
            "the person of this machine can send them in their own name"
        )


def attributed(body: str, session: str) -> str:
    """The words as they go out: the other end is told that a session behind a gateway speaks."""
    return f"{body.rstrip()}\n\n— relayed for local session {session} by the komnet gateway"


def digest_of(body: str) -> str:
    """What tells the same words apart from others, whatever their blanks."""
    return hashlib.sha256(" ".join(body.split()).encode("utf-8", "replace")).hexdigest()
