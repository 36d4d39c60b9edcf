"""Two agents that only talk to each other: how many requests in how long before a person has to look (decision 21)."""

import re
from collections import deque
from typing import Final

from peerline.core.ids import AgentId, Millis

Pair = tuple[AgentId, AgentId]

MOST_PAIRS: Final = 5_000
_PLAIN: Final = re.compile(r"[A-Za-z0-9_.][A-Za-z0-9_.-]*")


class Brake:
    """Counts the requests of each pair, in both directions; times are monotonic milliseconds.

    The counts live in memory and begin anew after a restart. Which pairs have something held stands in the store;
    `held` only says for which pairs it is worth a look.
    """

    def __init__(self, limit: int, window_ms: int) -> None:
        """`limit` 0: nothing is counted and nothing stopped."""
        self.limit, self.window_ms = limit, window_ms
        self.held: set[Pair] = set()
        self._times: dict[Pair, deque[Millis]] = {}

    def passes(self, one: AgentId, other: AgentId, now: Millis) -> bool:
        """Whether a further request of these two may go; one that goes is counted."""
        key = (one, other) if one < other else (other, one)
        if self.held and key in self.held:
            return False
        times = self._times.get(key)
        if times is None:
            if len(self._times) >= MOST_PAIRS:
                self._make_room(now)
            times = self._times[key] = deque(maxlen=self.limit)
        elif len(times) == self.limit and times[0] > now - self.window_ms:
            return False
        times.append(now)
        return True

    def turn(self, agent: AgentId) -> None:
        """A person spoke with `agent`: what it does with others counts anew."""
        for key in [key for key in self._times if agent in key]:
            del self._times[key]

    def clear(self, one: AgentId, other: AgentId) -> None:
        """The pair's count begins anew, and nothing of it is held any more."""
        key = pair(one, other)
        self._times.pop(key, None)
        self.held.discard(key)

    def _make_room(self, now: Millis) -> None:
        """Forget pairs that have been silent for a window; if that is not enough, those that began first."""
        for key in [key for key, times in self._times.items() if times[-1] <= now - self.window_ms]:
            del self._times[key]
        for key in list(self._times)[: max(0, len(self._times) - MOST_PAIRS + MOST_PAIRS // 10)]:
            del self._times[key]

    def __len__(self) -> int:
        return len(self._times)


def pair(one: AgentId, other: AgentId) -> Pair:
    """The two in the order in which a pair is known."""
    return (one, other) if one < other else (other, one)


def held(one: str, other: str) -> str:
    """Why a request waits; `one` and `other` are names."""
    return f"held: too many requests between {one} and {other} without a person's turn"


def release(*agents: tuple[AgentId, str]) -> str:
    """The command with which a person lets the two go on; each is an id and a name.

    A name that a shell would read in its own way is not printed to be pasted: the id stands for it.
    """
    return " ".join(("peerline continue", *(name if _PLAIN.fullmatch(name) else agent_id for agent_id, name in agents)))
