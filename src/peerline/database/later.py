"""A result that arrives after the commit: the one way in which work handed to the writer comes back."""

from __future__ import annotations  # an annotation of an inner function would be worked out at each call

import asyncio
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Later(Generic[T]):
    """Settled once, on the event loop's thread; costs no task and no future.

    Hot routes chain with `then` and `map`; everything else simply awaits it. `settled`, `value` and `error` are for
    reading: `failed` is whether `error` is set.
    """

    __slots__ = ("_change", "_first", "_more", "error", "settled", "value")

    def __init__(self) -> None:
        self.settled = False
        self.value: T | None = None
        self.error: BaseException | None = None
        self._change: Callable[[Any], T] | None = None
        self._first: Callable[[Later[T]], None] | None = None  # most have one listener: no list for it
        self._more: list[Callable[[Later[T]], None]] | None = None

    @property
    def failed(self) -> bool:
        return self.error is not None

    def succeed(self, value: T) -> None:
        """Settle with `value`; of several attempts to settle the first counts."""
        if not self.settled:
            self.value = value
            self.settle()

    def fail(self, error: BaseException) -> None:
        if not self.settled:
            self.error = error
            self.settle()

    def settle(self) -> None:
        """What `value` or `error` holds is the outcome: for the one owner who set them, once."""
        self.settled = True
        if self.error is not None:
            self.value = None  # of an earlier run of the same work
        elif self._change is not None:
            try:
                self.value = self._change(self.value)
            except BaseException as error:
                self.error = error
        if self._first is not None:
            first, self._first = self._first, None
            first(self)
            if self._more is not None:
                more, self._more = self._more, None
                for callback in more:
                    callback(self)

    def result(self) -> T:
        """The value.

        Raises:
            whatever the work raised; RuntimeError before it is settled.
        """
        if not self.settled:
            raise RuntimeError("not settled yet")
        if self.error is not None:
            raise self.error
        return self.value  # type: ignore[return-value]

    def then(self, done: Callable[[Later[T]], None]) -> None:
        """Call `done` when settled: at once if it already is."""
        if self.settled:
            done(self)
        elif self._first is None:
            self._first = done
        elif self._more is None:
            self._more = [done]
        else:
            self._more.append(done)

    def map(self, change: Callable[[T], U]) -> Later[U]:
        """The same result changed by `change`; what `change` raises becomes the error."""
        after: Later[U] = Later()

        def settled(before: Later[T]) -> None:
            if before.error is not None:
                after.fail(before.error)
                return
            try:
                value = change(before.value)  # type: ignore[arg-type]
            except BaseException as error:
                after.fail(error)
            else:
                after.succeed(value)

        self.then(settled)
        return after

    def become(self, change: Callable[[T], U]) -> Later[U]:
        """This very result, changed in place when it comes: for its only owner. Who listened before sees the value as
        it was, who listens after sees it changed."""
        if self._first is None and self._change is None and not self.settled:
            self._change = change  # type: ignore[assignment]
            return self  # type: ignore[return-value]

        def settled(_: Later[T]) -> None:
            if self.error is None:
                try:
                    self.value = change(self.value)  # type: ignore[arg-type, assignment]
                except BaseException as error:
                    self.error = error

        self.then(settled)
        return self  # type: ignore[return-value]

    def __await__(self) -> Generator[Any, None, T]:
        if not self.settled:
            waiter: asyncio.Future[None] = asyncio.get_running_loop().create_future()

            def wake(_: Later[T]) -> None:
                if not waiter.done():  # the one who waited may have been cancelled
                    waiter.set_result(None)

            self.then(wake)
            yield from waiter
        return self.result()


def ready(value: T) -> Later[T]:
    later: Later[T] = Later()
    later.succeed(value)
    return later
