"""Agents on other machines: their addresses in rooms, and what this machine's gateway knows of them."""

from collections.abc import Iterable
from typing import NamedTuple

from peerline.core.errors import TargetAmbiguous
from peerline.core.ids import Millis
from peerline.core.text import lower

ENTRIES = 1_000  # they fit into one body
PRESENCE = ("live", "stale", "away")  # as the network derives it; nobody there is ever said to be online


class Remote(NamedTuple):
    """`address` is what a sender types; `usual_delay_ms`: the median of what its answers in that room took."""

    address: str
    agent: str
    room: str
    network: str
    presence: str
    last_seen_at: Millis | None = None
    usual_delay_ms: int | None = None


def lone(name: str, known: Iterable[Remote]) -> str | None:
    """The one address of a lone agent name; None: no room has the agent.

    Raises:
        TargetAmbiguous: several have; the text names them.
    """
    found = [remote.address for remote in known if lower(remote.agent) == lower(name)]
    if len(found) > 1:
        raise TargetAmbiguous(
            f"{len(found)} rooms have an agent {name}: send it to {' or '.join(found[:5])}",
            candidates=found[:5],
            nextAction="name_the_room",
        )
    return found[0] if found else None
