"""Long tool calls: a sign of life every ten seconds, because clients give up on a silent one after a minute."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import Final, TypeVar

T = TypeVar("T")

PROGRESS_S: Final = 10.0
UNWATCHED_S: Final = 45.0
"""How long a call may take whose client asked for no progress."""

Progress = Callable[[float, str], None]
"""Told the seconds that have passed, and what is waited for."""


async def showing(work: Awaitable[T], what: str, progress: Progress | None, every_s: float = PROGRESS_S) -> T:
    """The outcome of `work`, with a sign of life each `every_s` seconds. Cancelling cancels it."""
    task = asyncio.ensure_future(work)
    passed = 0.0
    try:
        while True:
            done, _ = await asyncio.wait([task], timeout=every_s)
            if done:
                return task.result()
            passed += every_s
            if progress is not None:
                progress(passed, what)
    finally:
        task.cancel()
