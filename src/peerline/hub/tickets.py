"""Tickets: for a moment, and once, they stand for an agent's proof where no header can be sent."""

from collections import OrderedDict
from typing import Final, NamedTuple

from peerline.core.access import digest
from peerline.core.errors import TooMany
from peerline.core.ids import Entropy, Millis
from peerline.hub.agents import Proven

LIFE_MS: Final = 60_000
MOST: Final = 10_000
MOST_OF_ONE: Final = 16


class Ticket(NamedTuple):
    """Whom it lets in, proved when it was made; `token` is the digest of the project token shown then."""

    proven: Proven
    token: bytes | None
    until: Millis


class Tickets:
    """In memory: a hub that was restarted knows none. Only digests are kept; times are monotonic."""

    def __init__(self, entropy: Entropy) -> None:
        self._entropy = entropy
        self._tickets: OrderedDict[bytes, Ticket] = OrderedDict()  # the oldest first, and so the first to run out

    def mint(self, proven: Proven, token: bytes | None, now: Millis) -> str:
        """A new ticket.

        Raises:
            TooMany: the agent has too many that it did not use.
        """
        self._forget(now)
        agent = proven.member.agent.id
        own = sum(1 for ticket in self._tickets.values() if ticket.proven.member.agent.id == agent)
        if own >= MOST_OF_ONE or len(self._tickets) >= MOST:
            raise TooMany("too many unused tickets", retryAfter=LIFE_MS // 1000, nextAction="use_one_or_wait")
        secret = "tkt_" + self._entropy(32).hex()
        self._tickets[digest(secret)] = Ticket(proven, token, now + LIFE_MS)
        return secret

    def redeem(self, secret: str, now: Millis) -> Ticket | None:
        """Whom it lets in; None if it was used, has run out, or the session it stands for has ended."""
        self._forget(now)
        ticket = self._tickets.pop(digest(secret), None)
        return ticket if ticket is not None and ticket.proven.holds else None

    def _forget(self, now: Millis) -> None:
        while self._tickets and next(iter(self._tickets.values())).until <= now:
            self._tickets.popitem(last=False)
