"""R7: the wall clock jumps; what was sent neither expires early nor lives for ever, and waits keep their length."""

import asyncio
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from .history import History
from .peers import Peer, milliseconds
from .victim import Victim, started

LIBRARIES = [
    Path(f"/usr/lib/{where}/faketime/libfaketimeMT.so.1") for where in ("x86_64-linux-gnu", "aarch64-linux-gnu")
]
DAY_S = 86_400
HOUR_S = 3_600


class WallClock:
    """What libfaketime makes the hub believe; the monotonic clock stays true."""

    def __init__(self, file: Path, library: Path) -> None:
        self._file, self._library = file, library
        self.jump(0)

    def environment(self) -> dict[str, str]:
        return {
            "LD_PRELOAD": str(self._library),
            "FAKETIME_TIMESTAMP_FILE": str(self._file),
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
            "FAKETIME_NO_CACHE": "1",
        }

    def jump(self, seconds: int) -> None:
        """Away from the true time, by so much; in one step, as the file is replaced."""
        part = self._file.with_suffix(".part")
        part.write_text(f"{seconds:+d}\n")
        part.replace(self._file)

    def freeze(self, at: str) -> None:
        part = self._file.with_suffix(".part")
        part.write_text(f"{at}\n")
        part.replace(self._file)


@pytest.fixture
def clock(tmp_path: Path) -> WallClock:
    found = [library for library in LIBRARIES if library.exists()]
    if not found:
        pytest.skip("clock jumps need libfaketime: apt-get install faketime")
    return WallClock(tmp_path / "faketime", found[0])


@pytest.fixture
def hub(tmp_path: Path, clock: WallClock) -> Iterator[Victim]:
    with started(tmp_path, settings=clock.environment()) as hub:
        yield hub


async def two(hub: Victim) -> tuple[Peer, Peer]:
    history = History()
    peers = Peer("asker", history, hub.connection()), Peer("helper", history, hub.connection())
    for peer in peers:
        await peer.register()
    return peers


async def status(peer: Peer, message: str) -> str:
    return str((await peer.get(message)).json()["message"]["status"])


@pytest.mark.parametrize("jump", [8 * DAY_S, -HOUR_S, -8 * DAY_S])
def test_a_jump_that_is_soon_corrected_expires_nothing(hub: Victim, clock: WallClock, jump: int) -> None:
    async def across() -> None:
        asker, helper = await two(hub)
        sent = [(await asker.send("helper", f"task {n}", None)).json()["message"]["id"] for n in range(20)]
        clock.jump(jump)
        assert {await status(asker, message) for message in sent} == {"queued"}
        assert [row.id for row in await helper.inbox()] == sent
        during = (await asker.send("helper", "sent meanwhile", None)).json()["message"]
        clock.jump(0)
        assert {await status(asker, message) for message in [*sent, during["id"]]} == {"queued"}
        # Both ends are still taken to be here: leases run by the monotonic clock.
        assert (await asker.send("helper", "and after", None)).status == 202
        assert milliseconds(during["expiresAt"]) - milliseconds(during["createdAt"]) == HOUR_S * 1000

    asyncio.run(across())


@pytest.mark.parametrize("jump", [8 * DAY_S, -HOUR_S])
def test_a_wait_keeps_its_length_across_a_jump(hub: Victim, clock: WallClock, jump: int) -> None:
    async def across() -> float:
        asker, _ = await two(hub)
        message = (await asker.send("helper", "task", None)).json()["message"]["id"]
        began = time.monotonic()
        waiting = asyncio.create_task(asker.wait(message, 2_000))
        await asyncio.wait({waiting}, timeout=0.2)
        clock.jump(jump)
        assert (await waiting).json()["message"]["status"] == "queued"
        return time.monotonic() - began

    assert 1.99 <= asyncio.run(across()) <= 3.0


@pytest.mark.parametrize("jump", [8 * DAY_S, -HOUR_S])
def test_a_short_life_ends_by_its_age_whatever_the_wall_says(hub: Victim, clock: WallClock, jump: int) -> None:
    async def across() -> float:
        asker, _ = await two(hub)
        began = time.monotonic()
        message = (await asker.send("helper", "short", None, 1_000)).json()["message"]["id"]
        clock.jump(jump)
        assert await status(asker, message) == "queued"
        final = await asker.wait(message, 1_500)
        assert final.json()["message"]["status"] == "expired"
        return time.monotonic() - began

    assert asyncio.run(across()) >= 1.0


def test_a_frozen_wall_clock_stops_no_expiry(hub: Victim, clock: WallClock) -> None:
    async def frozen() -> None:
        asker, _ = await two(hub)
        clock.freeze("2030-01-01 00:00:00")
        message = (await asker.send("helper", "short", None, 1_000)).json()["message"]["id"]
        assert (await asker.wait(message, 1_500)).json()["message"]["status"] == "expired"

    asyncio.run(frozen())


@pytest.mark.slow
@pytest.mark.timeout(180)
def test_a_jump_that_holds_for_a_minute_is_believed(hub: Victim, clock: WallClock) -> None:
    async def held() -> None:
        asker, _ = await two(hub)
        message = (await asker.send("helper", "task", None)).json()["message"]["id"]
        clock.jump(8 * DAY_S)
        for _ in range(2):
            assert (await asker.wait(message, 25_000)).json()["message"]["status"] == "queued"
        async with asyncio.timeout(60):
            while (await asker.wait(message, 2_000)).json()["message"]["status"] != "expired":
                pass

    asyncio.run(held())
