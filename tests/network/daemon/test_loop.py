"""The daemon's loop: when it looks, and who waits for what."""

import asyncio

import pytest

from peerline.network.daemon.loop import Looked, NetworkLoop

QUIET = Looked(failed=False, active=False, waiting=False)


async def a_turn() -> None:
    """Let everything that is ready run once."""
    loop = asyncio.get_running_loop()
    over = loop.create_future()
    loop.call_soon(over.set_result, None)
    await over


class Stage:
    """A loop with a clock of our own; each pause is noted, and lasts until the test ends it or a wake does."""

    def __init__(self, *found: Looked) -> None:
        self.time, self.looks, self.pauses = 0, 0, list[float]()
        self._found = list(found)
        self.paused = asyncio.Event()
        self._over = asyncio.Event()
        self.loop = NetworkLoop(
            self._look, now=lambda: self.time, chance=lambda: 0.5, sessions=lambda: 0, sleep=self._sleep
        )

    async def _look(self) -> Looked:
        self.looks += 1
        return self._found.pop(0) if self._found else QUIET

    async def _sleep(self, woken: asyncio.Event, seconds: float) -> None:
        self.pauses.append(seconds)
        self.paused.set()
        waits = [asyncio.create_task(woken.wait()), asyncio.create_task(self._over.wait())]
        await asyncio.wait(waits, return_when=asyncio.FIRST_COMPLETED)
        for wait in waits:
            wait.cancel()
        self._over.clear()

    async def until_paused(self) -> None:
        await self.paused.wait()
        self.paused.clear()

    def time_passes(self, milliseconds: int) -> None:
        self.time += milliseconds
        self._over.set()


@pytest.mark.anyio
async def test_it_looks_at_once_and_then_at_the_pace_that_its_start_sets() -> None:
    stage = Stage()
    task = asyncio.create_task(stage.loop.run())
    await stage.until_paused()
    assert (stage.looks, stage.pauses) == (1, [10.0])
    stage.time_passes(6 * 60_000)
    await stage.until_paused()
    assert (stage.looks, stage.pauses[-1]) == (2, 30.0)
    task.cancel()


@pytest.mark.anyio
async def test_a_wake_brings_the_next_look_at_once() -> None:
    stage = Stage()
    task = asyncio.create_task(stage.loop.run())
    await stage.until_paused()
    stage.loop.wake()
    await stage.until_paused()
    assert stage.looks == 2
    task.cancel()


@pytest.mark.anyio
async def test_one_who_waits_gets_a_look_that_began_after_the_call() -> None:
    stage = Stage()
    task = asyncio.create_task(stage.loop.run())
    await stage.until_paused()
    await stage.loop.looked()
    assert stage.looks == 2
    task.cancel()


@pytest.mark.anyio
async def test_requests_wake_it_at_most_every_two_seconds_and_never_starve_it() -> None:
    stage = Stage()
    task = asyncio.create_task(stage.loop.run())
    await stage.until_paused()
    for _ in range(8):  # one each half second: the wake of the first two seconds, then one every two
        stage.loop.asked()
        await a_turn()
        stage.time += 500
        if stage.paused.is_set():
            stage.paused.clear()
    for _ in range(20):
        await a_turn()
    assert stage.looks == 3
    task.cancel()


@pytest.mark.anyio
async def test_failures_slow_it_down_until_a_look_succeeds() -> None:
    failed = Looked(failed=True, active=False, waiting=False)
    stage = Stage(failed, failed, QUIET)
    task = asyncio.create_task(stage.loop.run())
    for _ in range(3):
        await stage.until_paused()
        stage.time_passes(0)
    assert stage.pauses == [11.0, 12.0, 10.0]
    task.cancel()
