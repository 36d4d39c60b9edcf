"""One network's loop: look at the remote, tell what came, wait as long as the pace says or until something wakes it."""

import asyncio
from collections.abc import Awaitable, Callable
from dataclasses import dataclass
from typing import Final

from peerline.core.cadence import Surroundings, cadence, pause
from peerline.core.ids import Millis

NEAR_MS: Final = 120_000
REQUEST_WAKE_MS: Final = 2_000  # a request of a local agent brings a look forward at most so often


@dataclass(frozen=True, slots=True, kw_only=True)
class Looked:
    """What one look found: `active` when a message came or went, `waiting` when one in the inbox needs a person."""

    failed: bool
    active: bool
    waiting: bool


class NetworkLoop:
    """`look` does one sync and never raises for a remote that is away; `sessions` counts the attached agents."""

    def __init__(
        self,
        look: Callable[[], Awaitable[Looked]],
        *,
        now: Callable[[], Millis],
        chance: Callable[[], float],
        sessions: Callable[[], int],
        sleep: Callable[[asyncio.Event, float], Awaitable[None]] | None = None,
    ) -> None:
        self._look, self._now, self._chance, self._sessions = look, now, chance, sessions
        self._sleep = sleep or _sleep
        self._woken = asyncio.Event()
        self._done: list[asyncio.Future[None]] = []
        self._active_at = now()
        self._asked_at: Millis | None = None
        self._request_woke_at: Millis | None = None
        self._waiting, self._failures = False, 0
        self.looked_at: Millis | None = None

    def wake(self) -> None:
        """Look now: something local was sent, or the remote changed."""
        self._woken.set()

    def asked(self) -> None:
        """A local agent asked for something: look soon, at most every 2 s, and keep the pace up."""
        now = self._asked_at = self._now()
        if self._request_woke_at is None or now - self._request_woke_at >= REQUEST_WAKE_MS:
            self._request_woke_at = now
            self.wake()

    async def looked(self) -> None:
        """Wake the loop and wait for the end of a look that began after this call."""
        done = asyncio.get_running_loop().create_future()
        self._done.append(done)
        self.wake()
        await done

    @property
    def agent_near(self) -> bool:
        """A session is attached, or something was asked over the socket in the last two minutes."""
        asked = self._asked_at
        return self._sessions() > 0 or (asked is not None and self._now() - asked <= NEAR_MS)

    @property
    def cadence(self) -> str:
        return cadence(self._surroundings())

    async def run(self) -> None:
        """Until cancelled."""
        while True:
            self._woken.clear()
            waiting, self._done = self._done, []
            try:
                found = await self._look()
            finally:
                for done in waiting:
                    if not done.done():
                        done.set_result(None)
            now = self.looked_at = self._now()
            self._failures = self._failures + 1 if found.failed else 0
            self._waiting = found.waiting
            if found.active:
                self._active_at = now
            if not self._woken.is_set():
                await self._sleep(self._woken, pause(self._surroundings(), self._chance))

    def _surroundings(self) -> Surroundings:
        return Surroundings(
            now=self._now(),
            active_at=self._active_at,
            asked_at=self._asked_at,
            sessions=self._sessions(),
            waiting_for_human=self._waiting,
            failures=self._failures,
        )


async def _sleep(woken: asyncio.Event, seconds: float) -> None:
    try:
        async with asyncio.timeout(seconds):
            await woken.wait()
    except TimeoutError:
        pass
