"""What stands behind a request that this session sends: the chain of agents it was forwarded by."""

from dataclasses import dataclass
from typing import Self

from peerline.client.async_hub import next_path
from peerline.client.records import Message


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
