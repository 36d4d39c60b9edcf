"""One life of a harness: turns handed in one after another, until something ends it."""

import asyncio
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Final

from peerline.client.records import Message
from peerline.core.ids import Millis
from peerline.worker import happenings as h
from peerline.worker.affinity import scope as scope_of
from peerline.worker.child import Child
from peerline.worker.desk import Desk, Outcomes, Work
from peerline.worker.ending import End, Ending
from peerline.worker.harness import Harness
from peerline.worker.plan import Plan
from peerline.worker.seat import Seat
from peerline.worker.turn import Turn
from peerline.worker.watchdog import Watchdog

NOTICE: Final = "kxm-notice"
DECLINES: Final = 3


class _Stop:
    """We were asked to end."""


class _News:
    """There may be something to do."""


@dataclass(frozen=True, slots=True)
class _Exit:
    pass


@dataclass(frozen=True, slots=True)
class _Chosen:
    work: Work | None
    joins: bool


class Shift:
    """`news` and `stop` may be called from outside at any time; `work` runs once.

    `complain` gets what the harness says of its faults: foreign text, which no log line may hold.
    """

    def __init__(
        self,
        plan: Plan,
        harness: Harness,
        child: Child,
        desk: Desk,
        seat: Seat,
        *,
        scope: str,
        on_ready: Callable[[str], None],
        log: Callable[..., None],
        complain: Callable[[str], None],
        now: Callable[[], Millis],
    ) -> None:
        self._complain = complain
        self._plan, self._harness, self._child = plan, harness, child
        self._desk, self._seat, self._scope = desk, seat, scope
        self._on_ready, self._log, self._now = on_ready, log, now
        self._mail: asyncio.Queue[Any] = asyncio.Queue()
        self._watchdog = Watchdog(plan.tool_timeout)
        self._turn: Turn | None = None
        self._choosing: asyncio.Task[None] | None = None
        self._ready = self._stopping = False
        self._ready_by = now() + plan.activation_timeout
        self._declined: dict[str, int] = {}
        self._oversized = 0

    def news(self) -> None:
        self._mail.put_nowait(_News())

    def stop(self) -> None:
        self._mail.put_nowait(_Stop())

    async def work(self) -> Ending:
        """Until this life has to end. What was not finished is put back; to end the process is the caller's."""
        reading = asyncio.ensure_future(self._read())
        ending: Ending | None = None
        try:
            self._harness.open()
            while ending is None:
                self._write()
                ending = await self._next()
        finally:
            reading.cancel()
            if self._choosing is not None:
                self._choosing.cancel()
            await asyncio.wait([task for task in (reading, self._choosing) if task is not None])
            self._put_back(ending)
            self._give_back_chosen()
            self._seat.at_work_on(())
        return ending

    async def _read(self) -> None:
        async for frame in self._child.read():
            if self._child.frames.oversized != self._oversized:
                self._oversized = self._child.frames.oversized
                self._log("worker_rpc_frame_oversized", level="warn", kind=str(frame.get("type", ""))[:40])
            for happening in self._harness.feed(frame):
                self._mail.put_nowait(happening)
            self._write()
        self._mail.put_nowait(_Exit())

    async def _next(self) -> Ending | None:
        deadline = self._deadline()
        try:
            async with asyncio.timeout(None if deadline is None else max(0, deadline - self._now()) / 1000):
                came = await self._mail.get()
        except TimeoutError:
            return self._overdue()
        match came:
            case _Exit():
                return self._ending(End.EXITED)
            case _Stop():
                return self._stop()
            case _News():
                self._choose()
            case _Chosen():
                self._choosing = None
                return self._hand_in(came.work, joins=came.joins)
            case h.Ready():
                self._ready = True
                self._on_ready(came.session)
                self._choose()
            case h.Unresumable():
                self._complain(f"the session cannot be gone on with: {came.why}")
                return self._ending(End.UNRESUMABLE)
            case h.Began():
                self._begun(came.key)
            case h.Declined():
                self._taken_back(came.key, came.why)
            case h.ToolBegan():
                self._watchdog.began(came.id, came.name, self._now())
            case h.ToolEnded():
                self._watchdog.ended(came.id)
            case h.Settled():
                return self._settled(came)
        return None

    def _deadline(self) -> Millis | None:
        """When the harness will have kept us waiting too long for a sign, or for a tool."""
        times = [self._watchdog.deadline]
        if not self._ready:
            times.append(self._ready_by)
        elif self._turn is not None and not self._turn.begun:
            times.append(self._turn.handed_in + self._plan.activation_timeout)
        return min((one for one in times if one is not None), default=None)

    def _overdue(self) -> Ending | None:
        now = self._now()
        if (tool := self._watchdog.overdue(now)) is not None:
            return self._ending(End.TOOL, tool)
        deadline = self._deadline()
        return self._ending(End.SILENT) if deadline is not None and deadline <= now else None

    def _choose(self) -> None:
        """Look for the next request, if one could be handed in now."""
        if not self._ready or self._stopping or self._choosing is not None:
            return
        joins = self._turn is not None
        if joins and not (self._harness.steers and self._turn and self._turn.requests and self._desk.steer_waits()):
            return

        async def choose() -> None:
            self._mail.put_nowait(_Chosen(await self._desk.choose(only_steer=joins), joins))

        self._choosing = asyncio.ensure_future(choose())

    def _hand_in(self, work: Work | None, *, joins: bool) -> Ending | None:
        if work is None:
            return None
        turn = self._turn
        fits = isinstance(work, Outcomes) or not self._plan.isolation or scope_of(work) == self._scope
        if self._stopping or joins != (turn is not None) or (joins and not fits):
            self._desk.put_back(work, lost=False)  # what it was chosen for is over
            if not joins:
                return None
            if turn is None:
                self._choose()
            return None
        if not fits:
            assert isinstance(work, Message)
            self._desk.put_back(work, lost=False)
            return self._ending(End.ROUTED, scope_of(work))
        key = work.id if isinstance(work, Message) else NOTICE
        if turn is None:
            self._turn = Turn({key: work}, handed_in=self._now())
            self._harness.turn(key, self._desk.text(work))
        else:
            self._harness.steer(key, self._desk.text(work, joins=turn.requests))
            turn.work[key] = work
        self._desk.handed_in(work)
        return None

    def _begun(self, key: str) -> None:
        turn = self._turn
        if turn is None or key not in turn.work or key in turn.begun:
            return
        turn.begun.add(key)
        work = turn.work[key]
        if isinstance(work, Message):
            self._desk.begun(work)
        self._seat.at_work_on(turn.requests)
        self._choose()

    def _taken_back(self, key: str, why: str) -> None:
        """The harness did not take a text: a steer whose turn has just ended is the next turn."""
        turn = self._turn
        if turn is None or key in turn.begun or (work := turn.work.pop(key, None)) is None:
            return
        self._log("worker_turn_declined", level="warn", key=key)
        self._complain(f"a turn was not taken: {why}")
        self._declined[key] = self._declined.get(key, 0) + 1
        self._desk.put_back(work, lost=self._declined[key] >= DECLINES)
        if not turn.work:
            self._turn = None
        if self._declined[key] < DECLINES:
            self._choose()

    def _settled(self, came: h.Settled) -> Ending | None:
        """The turn is over. One that failed, or that nobody began, answers nothing."""
        self._watchdog.clear()
        turn = self._turn
        if self._stopping:
            return self._ending(End.STOPPED)
        if turn is None or not turn.begun:
            return None
        if came.failure is not None:
            self._log("worker_provider_failure", level="warn", failureClass=came.failure)
            self._complain(f"the model failed ({came.failure}): {came.why}")
            return self._ending(End.PROVIDER, came.failure)
        self._turn = None
        for key, work in turn.work.items():
            if key not in turn.begun:
                self._desk.put_back(work, lost=False)
        if turn.requests:
            self._desk.answered(turn.requests, came.text)
        self._seat.at_work_on(())
        self._choose()
        return None

    def _stop(self) -> Ending | None:
        """At once when it rests, else when it has confirmed that the turn is aborted."""
        if self._turn is None or self._stopping:
            return self._ending(End.STOPPED)
        self._stopping = True
        self._log("worker_drain_wait", requests=len(self._turn.work))
        self._harness.abort()
        return None

    def _put_back(self, ending: Ending | None) -> None:
        """What was not finished is the next life's; those who wait for it are told why."""
        turn, self._turn = self._turn, None
        if turn is None:
            return
        for work in turn.work.values():
            self._desk.put_back(work, lost=ending is not None and ending.lost)
        if ending is not None and (why := ending.told):
            self._desk.note(turn.requests, why)

    def _give_back_chosen(self) -> None:
        """What was chosen and not yet handed in."""
        while not self._mail.empty():
            if isinstance(left := self._mail.get_nowait(), _Chosen) and left.work is not None:
                self._desk.put_back(left.work, lost=False)

    def _write(self) -> None:
        frames, self._harness.out = self._harness.out, []
        for frame in frames:
            self._child.write(frame)

    def _ending(self, end: End, detail: str = "") -> Ending:
        return Ending(end=end, detail=detail, ready=self._ready)
