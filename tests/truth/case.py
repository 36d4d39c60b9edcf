"""What a case is: how it is brought about, and what a person has to be told of it."""

from collections.abc import Callable
from dataclasses import dataclass

from tests.truth.scene import Scene


@dataclass(frozen=True, slots=True)
class Stop:
    """A request, or a reply, that does not arrive.

    `bring` gives the request's id. `why` and `next` are what `peerline why` has to say; `ID` stands for that id,
    `NUMBER` and the like for what the case found. `status` is the hub's, which two agents agreed on.
    """

    name: str
    bring: Callable[[Scene], str]
    why: str
    next: str
    status: str = "queued"

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Refusal:
    """A request that the hub did not take: `peerline why` lists it with its cause and its next step."""

    name: str
    bring: Callable[[Scene], None]
    code: str
    why: str
    next: str
    small_disk: bool = False

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Deaf:
    """A hub that tells this sender nothing any more: then `peerline why` itself says why, and what to do."""

    name: str
    bring: Callable[[Scene], None]
    why: str
    next: str

    def __str__(self) -> str:
        return self.name


@dataclass(frozen=True, slots=True)
class Arrival:
    """A request, or a reply, that did arrive: `why` and `next` say so, and nothing calls it stuck."""

    name: str
    bring: Callable[[Scene], str]
    why: str
    next: str = "nothing to do"
    status: str = "replied"

    def __str__(self) -> str:
        return self.name
