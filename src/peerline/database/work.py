"""Work for the writer: what a store gives it, what comes of it, and how it may end."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from peerline.database.later import Later
from peerline.database.sql import Sql


class Job(Later[Any]):
    """One piece of work, and the result that its caller waits for: known when the work has run, settled after the
    commit. `aside` is what is to be done then, before."""

    __slots__ = ("aside", "work")

    def __init__(self, work: Callable[[Any], Any]) -> None:
        super().__init__()
        self.work = work
        self.aside: Any = None


class Kept(Exception):
    """Raised by a work whose changes are to stay although `error` is its outcome."""

    def __init__(self, error: BaseException) -> None:
        super().__init__(str(error))
        self.error = error


class Unfinished(Exception):
    """A work raised after it had changed something."""


class Scope(Protocol):
    """What each work is called with, and what happens beside its result; a store implements it."""

    def bind(self, sql: Sql) -> None:
        """Called once, with the transaction's view of the connection."""

    def enter(self) -> Any:
        """The argument of the works of a transaction that has just begun."""

    def aside(self) -> Any:
        """What the work that just ended leaves to be done after the commit, taken once; None: nothing."""

    def done(self, aside: Any) -> None:
        """After the commit, before the result is handed on."""

    def undone(self) -> None:
        """Changes of the transaction at hand were taken back, perhaps all."""

    def wrote(self) -> None:
        """A group that changed something is on disk."""

    def refused(self, error: BaseException) -> None:
        """The disk, or who holds it, refused; the refusal goes to the caller."""


Group = Sequence[Job]
