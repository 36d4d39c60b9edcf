"""The measured span of a load: what ends inside it counts, what ends before or after does not."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Sequence
from time import perf_counter
from typing import Any


class Window:
    """Latencies of the round trips that ended while the window was open.

    A driver asks `going` before each further round trip and hands its start to `ended`. `over` is for recipients whose
    client loses a cancellation: no sender is left that could wait for them.
    """

    def __init__(self) -> None:
        self.going = True
        self.over = False
        self.latencies: list[float] = []
        self._open = False

    def open(self) -> None:
        self._open = True

    def shut(self) -> None:
        self._open = False
        self.going = False

    def ended(self, started: float) -> None:
        if self._open:
            self.latencies.append(perf_counter() - started)


async def repeat(window: Window, round_trip: Callable[[], Awaitable[None]]) -> None:
    """One round trip after another until the window shuts."""
    while window.going:
        started = perf_counter()
        await round_trip()
        window.ended(started)


async def repeat_all(
    window: Window,
    round_trips: list[Callable[[], Awaitable[None]]],
    answering: Sequence[Coroutine[Any, Any, None]] = (),
) -> None:
    """All `round_trips` at once, while `answering`, the recipients' endless loops, run beside them."""
    async with asyncio.TaskGroup() as recipients:
        answers = [recipients.create_task(answer) for answer in answering]
        async with asyncio.TaskGroup() as senders:
            for round_trip in round_trips:
                senders.create_task(repeat(window, round_trip))
        window.over = True
        for answer in answers:
            answer.cancel()
