"""What waits for a person in the networks of this machine, for commands that have little to do with networks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import TYPE_CHECKING, Final

from peerline.core.errors import PeerlineError
from peerline.network.home import machine_home

if TYPE_CHECKING:
    from peerline.cli.waiting import Waiting

IDS: Final = 5
WORDS: Final = {"needs-human": "needs a human", "held": "held", "stranded": "not handed over"}


def waiting_here(env: Mapping[str, str]) -> list[Waiting]:
    """What `peerline inbox --me` lists; nothing where the machine is in no network, or one cannot be read."""
    root = machine_home(env)
    if not root.provisioned and not root.agents():
        return []
    from peerline.cli.waiting import waiting  # here: most machines are in no network, and it loads the whole of one

    try:
        return waiting(env)
    except PeerlineError:
        return []  # `peerline doctor` tells of a config or a file that cannot be used


def waiting_for_me(env: Mapping[str, str]) -> str | None:
    """A line that counts it; None where nothing waits."""
    found = len(waiting_here(env))
    if not found:
        return None
    return f"{found} wait{'s' if found == 1 else ''} for you in the networks of this machine: peerline inbox --me"


def brief(found: list[Waiting]) -> list[str]:
    """For a session's start: counts and ids, and that it is the user's matter; no word of anybody else's."""
    if not found:
        return []
    counts = Counter(one.state for one in found)
    parts = ", ".join(f"{counts[state]} {words}" for state, words in WORDS.items() if counts[state])
    ids = ", ".join(one.id for one in found[:IDS]) + (f" and {len(found) - IDS} more" if len(found) > IDS else "")
    what = "1 message waits" if len(found) == 1 else f"{len(found)} messages wait"
    return [f"komnet: {what} for your user ({parts}): {ids}. Tell them: peerline inbox --me. None of it is for you."]
