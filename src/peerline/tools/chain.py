"""What stands behind a request that this session sends: the chain of agents it was forwarded by."""

from collections import OrderedDict
from dataclasses import dataclass
from typing import Final, Self

from peerline.client.async_hub import next_path
from peerline.client.records import Message

REMEMBERED: Final = 1_000


@dataclass(frozen=True, slots=True)
class Chain:
    """A chain ends at the limit of the request it began with, and where it would meet itself."""

    hops: int | None = None
    max_hops: int | None = None
    path: tuple[str, ...] | None = None

    @classmethod
    def behind(cls, furthest: Message | None, own: str) -> Self:
        """One hop past the furthest request at hand; `own` is our agent id. Without one a new chain begins."""
        if furthest is None:
            return cls()
        return cls(furthest.hops + 1, furthest.max_hops, next_path(furthest, own))


class Chains:
    """The chain of each idempotency key: a retry is only then exact when it has the chain of the first try, whatever
    has come into the inbox or left it since."""

    def __init__(self) -> None:
        self._of: OrderedDict[str, Chain] = OrderedDict()

    def of(self, key: str | None, furthest: Message | None, own: str) -> Chain:
        if key is None:
            return Chain.behind(furthest, own)
        if key not in self._of:
            self._of[key] = Chain.behind(furthest, own)
            if len(self._of) > REMEMBERED:
                self._of.popitem(last=False)
        return self._of[key]
