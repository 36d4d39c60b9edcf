"""A result that arrives after the commit: the one way in which work handed to the writer comes back."""

import asyncio
from collections.abc import Callable, Generator
from typing import Any, Generic, TypeVar

T = TypeVar("T")
U = TypeVar("U")


class Later(Generic[T]):
    """Settled once, on the event loop's thread; costs no task and no future.

    Hot routes chain with `then` and `map`; everything else simply awaits it.
    """

    __slots__ = ("_callbacks", "_error", "_settled", "_value")

    def __init__(self) -> None:
        self._settled = False
        self._value: T | None = None
        self._error: BaseException | None = None
        self._callbacks: list[Callable[[Later[T]], None]] | None = None

    @property
    def settled(self) -> bool:
        return self._settled

    @property
    def failed(self) -> bool:
        return self._error is not None

    @property
    def error(self) -> BaseException | None:
        return self._error

    def succeed(self, value: T) -> None:
        """Settle with `value`; of several attempts to settle the first counts."""
        if not self._settled:
            self._value = value
            self._settle()

    def fail(self, error: BaseException) -> None:
        if not self._settled:
            self._error = error
            self._settle()

    def _settle(self) -> None:
        self._settled = True
        callbacks, self._callbacks = self._callbacks, None
        for callback in callbacks or ():
            callback(self)

    def result(self) -> T:
        """The value.

        Raises:
            whatever the work raised; RuntimeError before it is settled.
        """
        if not self._settled:
            raise RuntimeError("not settled yet")
        if self._error is not None:
            raise self._error
        return self._value  # type: ignore[return-value]

    def then(self, done: "Callable[[Later[T]], None]") -> None:
        """Call `done` when settled: at once if it already is."""
        if self._settled:
            done(self)
        elif self._callbacks is None:
            self._callbacks = [done]
        else:
            self._callbacks.append(done)

    def map(self, change: Callable[[T], U]) -> "Later[U]":
        """The same result changed by `change`; what `change` raises becomes the error."""
        after: Later[U] = Later()

        def settled(before: Later[T]) -> None:
            try:
                value = change(before.result())
            except BaseException as error:
                after.fail(error)
            else:
                after.succeed(value)

        self.then(settled)
        return after

    def __await__(self) -> Generator[Any, None, T]:
        if not self._settled:
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
