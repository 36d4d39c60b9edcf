"""Work for the writer: what a store gives it, what comes of it, and how it may end."""

from collections.abc import Callable, Sequence
from typing import Any, Protocol

from peerline.database.later import Later
from peerline.database.sql import Sql


class Job:
    """One piece of work and its outcome; `aside` is what is to be done after the commit."""

    __slots__ = ("aside", "error", "later", "value", "work")

    def __init__(self, work: Callable[[Any], Any]) -> None:
        self.work = work
        self.later: Later[Any] = Later()
        self.value: Any = None
        self.aside: Any = None
        self.error: BaseException | None = None


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
        """The argument of the next work."""

    def aside(self) -> Any:
        """What the work that just succeeded leaves to be done after the commit; None: nothing."""

    def done(self, aside: Any) -> None:
        """After the commit, before the result is handed on."""

    def wrote(self) -> None:
        """A group that changed something is on disk."""

    def refused(self, error: BaseException) -> None:
        """The disk, or who holds it, refused; the refusal goes to the caller."""


Group = Sequence[Job]
