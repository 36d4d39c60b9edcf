"""Signs of life during a long call."""

import asyncio

import pytest

from peerline.tools.waits import showing

pytestmark = pytest.mark.anyio


async def test_a_long_wait_shows_that_it_lives_and_gives_the_outcome() -> None:
    outcome: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    shown: list[tuple[float, str]] = []

    def progress(passed: float, what: str) -> None:
        shown.append((passed, what))
        if len(shown) == 3:
            outcome.set_result("done")

    assert await showing(outcome, "waiting", progress, every_s=0.001) == "done"
    assert [what for _, what in shown] == ["waiting"] * 3
    assert shown[0][0] < shown[1][0] < shown[2][0]


async def test_a_cancelled_wait_cancels_the_work() -> None:
    work: asyncio.Future[str] = asyncio.get_running_loop().create_future()
    waiting = asyncio.ensure_future(showing(work, "waiting", None))
    asyncio.get_running_loop().call_soon(waiting.cancel)
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert work.cancelled()
