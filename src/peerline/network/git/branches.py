"""The branches of a network, and where this machine notes what the remote's were when last seen (spec/network.md 3.1).

A branch is named as on the wire without `refs/heads/`: `main`, or `room/<room id>`.
"""

import re
from typing import Final

MAIN: Final = "main"
ROOM: Final = "room/"
HEADS: Final = "refs/heads/"
SEEN: Final = "refs/remotes/origin/"  # as fetched or pushed: the remote's branches as we know them
BUILT: Final = "refs/peerline/built/"  # what we are about to push
BRANCH: Final = re.compile(r"main|room/[a-z0-9](?:[a-z0-9-]{0,61}[a-z0-9])?")
OID: Final = re.compile(r"[0-9a-f]{40}|[0-9a-f]{64}")


def room_branch(room: str) -> str:
    return ROOM + room


def room_of(branch: str) -> str | None:
    """The room that the branch holds; None for `main`."""
    return branch.removeprefix(ROOM) if branch.startswith(ROOM) else None
