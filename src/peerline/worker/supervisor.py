"""The supervisor: starts a harness, starts it again when it ends, and gives up only where it was told to."""

import asyncio
import shutil
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Final
from uuid import UUID

from peerline.client.surroundings import Surroundings
from peerline.core.errors import Conflict, PeerlineError
from peerline.core.fence import visible
from peerline.core.ids import Millis
from peerline.worker import leftovers
from peerline.worker.binding import Binding
from peerline.worker.child import Child
from peerline.worker.claim import Claim
from peerline.worker.claude import Claude
from peerline.worker.codex import Codex
from peerline.worker.course import Course
from peerline.worker.desk import Desk
from peerline.worker.ending import End, Ending
from peerline.worker.files import Files
from peerline.worker.harness import Harness
from peerline.worker.link import Link
from peerline.worker.pi import Pi
from peerline.worker.place import Place
from peerline.worker.plan import DEFAULT_SCOPE, Launch, Plan
from peerline.worker.seat import VARIABLE, Seat
from peerline.worker.shift import Shift

HARNESSES: Final[Mapping[str, type[Harness]]] = {"pi": Pi, "claude": Claude, "codex": Codex}
FINISH_S: Final = 5.0
KILL_AFTER_S: Final = 5.0


class StartedTooOften(Conflict):
    """The harness ended again and again."""

    code = "worker_restart_limit_reached"


class NotStarted(Conflict):
    """The harness's program cannot be started."""

    code = "worker_process_error"


class Supervisor:
    """`log` takes an event's name and members: never a text of a message. `errors` gets what the harness complains."""

    def __init__(
        self,
        plan: Plan,
        place: Place,
        files: Files,
        claim: Claim,
        *,
        env: Mapping[str, str],
        errors: Path,
        log: Callable[..., None],
        world: Surroundings,
        wall: Callable[[], Millis],
    ) -> None:
        self._plan, self._place, self._files, self._claim = plan, place, files, claim
        self._env, self._errors, self._log, self._world = env, errors, log, world
        self._binding = Binding(files, plan.harness, max_runs=plan.max_run_sessions, now=wall)
        self._seat = Seat(files, url=place.url, project=place.project)
        self._desk = Desk(self._binding, adapter=f"worker:{plan.harness}", news=self._news, world=world)
        self._course = Course(plan, log)
        self._shift: Shift | None = None
        self._stopping = asyncio.Event()

    def stop(self) -> None:
        """End in order; may be called more than once."""
        if not self._stopping.is_set():
            self._log("worker_stopping")
        self._stopping.set()
        if self._shift is not None:
            self._shift.stop()

    async def run(self) -> None:
        """Until `stop`.

        Raises:
            StartedTooOften, NotStarted
            NameTaken: another session is this agent.
        """
        if self._binding.set_aside is not None:
            self._log("worker_session_state_recovered", level="warn", setAside=self._binding.set_aside.name)
        if self._claim.inherits:
            self._end_leftovers()
        link = Link(
            self._place,
            model=self._plan.models[0] if self._plan.models else self._plan.harness,
            on_registered=self._seat.registered,
            trouble=self._hub_trouble,
            world=self._world,
        )
        self._seat.prepare(self._place.name)
        linked = asyncio.ensure_future(link.run(self._desk))
        lives = asyncio.ensure_future(self._lives())
        try:
            await asyncio.wait([linked, lives], return_when=asyncio.FIRST_COMPLETED)
            if linked.done():
                self.stop()
                await lives
                linked.result()
            await lives
        finally:
            await self._desk.finish(FINISH_S)
            linked.cancel()
            await asyncio.wait([linked])
            self._seat.remove()

    async def _lives(self) -> None:
        while not self._stopping.is_set():
            started, launch = self._now(), self._launch()
            ending = await self._life(launch, self._course.next.scope)
            if self._stopping.is_set():
                return
            pause = self._course.after(ending, self._now() - started, resumed=launch.resumes)
            if pause is None:
                raise StartedTooOften(f"{self._plan.harness} ended again and again; what it said: {self._errors}")
            await self._paused(pause)

    def _launch(self) -> Launch:
        """The next start."""
        chosen = self._course.next
        known = self._binding.session(chosen.scope) if chosen.resumes else None
        return Launch(
            session=known or str(UUID(bytes=self._world.entropy(16), version=4)),
            resumes=known is not None,
            model=chosen.model,
            label=f"{self._plan.name}@{DEFAULT_SCOPE if chosen.scope == DEFAULT_SCOPE else chosen.scope[4:12]}",
            sessions=self._files.sessions(chosen.scope),
            start=self._world.entropy(8).hex(),
        )

    async def _life(self, launch: Launch, scope: str) -> Ending:
        """One start of the harness, and everything until it has ended."""
        harness = HARNESSES[self._plan.harness](self._plan, launch, self._seat.path)
        variables = {VARIABLE: self._seat.path, **harness.variables()}
        try:
            child = await Child.start(
                harness.command(),
                env={**self._env, **variables},
                folder=self._plan.folder,
                errors=self._errors,
                inherited=self._claim.inherited,
            )
        except OSError as error:
            self._log("worker_process_error", level="error", error=error.strerror or "", program=harness.command()[0])
            raise NotStarted(
                f"{self._plan.harness} could not be started: {error.strerror}: {harness.command()[0]}"
            ) from None
        self._claim.child(child.pid)
        facts = {"childPid": child.pid, "model": launch.model, "scope": scope, "resumes": launch.resumes}
        self._log("worker_starting", **facts)
        shift = self._shift = Shift(
            self._plan,
            harness,
            child,
            self._desk,
            self._seat,
            scope=scope,
            on_ready=lambda session: self._bind(scope, session),
            log=self._log,
            complain=self._complain,
            now=self._now,
        )
        if self._stopping.is_set():
            shift.stop()
        try:
            ending = await self._bounded(shift)
        finally:
            self._shift = None
            orderly = await self._end(child)
        if not orderly or ending.lost:
            self._end_leftovers()
        self._log("worker_exited", end=ending.end.value, exitCode=await child.ended(), detail=ending.detail)
        return ending

    async def _bounded(self, shift: Shift) -> Ending:
        """A harness that does not confirm the end of its turn within the time to drain is ended all the same."""
        working = asyncio.ensure_future(shift.work())
        stopping = asyncio.ensure_future(self._stopping.wait())
        try:
            await asyncio.wait([working, stopping], return_when=asyncio.FIRST_COMPLETED)
            if not working.done():
                await asyncio.wait([working], timeout=self._plan.drain / 1000)
            if working.done():
                return working.result()
            return Ending(end=End.STOPPED, detail="drain")
        finally:
            for task in (working, stopping):
                task.cancel()
            await asyncio.wait([working, stopping])

    async def _end(self, child: Child) -> bool:
        """True if it went by itself."""
        orderly = await child.stop(min(self._plan.drain / 1000, KILL_AFTER_S))
        if orderly:
            self._log("worker_drain_confirmed")
        else:
            self._log("worker_killed", level="warn", childPid=child.pid)
        return orderly

    def _end_leftovers(self) -> None:
        """What a killed harness left running would go on beside the turn that is run again."""
        if pids := leftovers.end(self._seat.path):
            self._log("worker_leftovers_ended", level="warn", pids=pids[:20])

    def _bind(self, scope: str, session: str) -> None:
        for gone in self._binding.bind(scope, session):
            self._log("worker_session_evicted", scope=gone)
            shutil.rmtree(self._files.sessions(gone), ignore_errors=True)

    async def _paused(self, pause: Millis) -> None:
        stopping = asyncio.ensure_future(self._stopping.wait())
        sleeping: asyncio.Future[Any] = asyncio.ensure_future(self._world.sleep(pause / 1000))
        try:
            await asyncio.wait([stopping, sleeping], return_when=asyncio.FIRST_COMPLETED)
        finally:
            stopping.cancel()
            sleeping.cancel()

    def _news(self) -> None:
        if self._shift is not None:
            self._shift.news()

    def _hub_trouble(self, error: PeerlineError) -> None:
        self._log("worker_hub_trouble", level="warn", code=error.code, error=str(error))

    def _complain(self, text: str) -> None:
        """Beside what the harness itself complains of."""
        try:
            with self._errors.open("a", encoding="utf-8", errors="backslashreplace") as file:
                file.write(f"kxm agent worker: {visible(text, 400)}\n")
        except OSError:
            pass

    def _now(self) -> Millis:
        return round(self._world.now() * 1000)
