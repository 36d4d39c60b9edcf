"""Where the blocking part of a group runs: on the event loop while the disk is quick, else on a thread beside it."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Final, Protocol

QUICK_S: Final = 0.005  # a commit that takes no longer costs the loop less than handing it over
FADES: Final = 0.9  # how much of a slow commit's time is still remembered after the next one

Task = Callable[[], None]
Done = Callable[[BaseException | None], None]


class Committer(Protocol):
    def run(self, task: Task, done: Done) -> None:
        """Run `task`, which may block for long, then call `done` with what it raised, or None, where the writer
        lives."""

    def commit(self, task: Task, done: Done) -> None:
        """The same for a commit, which most often blocks for less than a millisecond."""

    def stop(self) -> None:
        """Finish what was handed over, then end."""


class Inline:
    """Runs everything at once: for simulations, migrations and tests."""

    def run(self, task: Task, done: Done) -> None:
        try:
            task()
        except Exception as error:
            done(error)
        else:
            done(None)

    def commit(self, task: Task, done: Done) -> None:
        self.run(task, done)

    def stop(self) -> None:
        pass


class Threaded:
    """One thread; `settle` carries `done` back to the loop's thread (`loop.call_soon_threadsafe`)."""

    def __init__(self, settle: Callable[[Callable[[], None]], object]) -> None:
        self._settle = settle
        self._tasks: SimpleQueue[tuple[Task, Done] | None] = SimpleQueue()
        self._worker = threading.Thread(target=self._loop, name="commit", daemon=True)
        self._worker.start()

    def run(self, task: Task, done: Done) -> None:
        self._tasks.put((task, done))

    def commit(self, task: Task, done: Done) -> None:
        self.run(task, done)

    def stop(self) -> None:
        self._tasks.put(None)
        self._worker.join()

    def _loop(self) -> None:
        while (handed := self._tasks.get()) is not None:
            task, done = handed
            outcome: BaseException | None = None
            try:
                task()
            except Exception as error:
                outcome = error
            self._settle(lambda done=done, outcome=outcome: done(outcome))  # type: ignore[misc]


class Paced:
    """Commits in place while they are quick: two changes of thread cost more than a flush of a good disk, and what
    arrives meanwhile shares the next one. After a slow commit the next ones go to the thread, until it has faded."""

    def __init__(self, beside: Committer, clock: Callable[[], float]) -> None:
        """`beside` runs what may block for long; `clock` gives seconds that only go forward."""
        self._beside, self._clock = beside, clock
        self._here = Inline()
        self._slow_s = 10 * QUICK_S  # the slowest commit, fading; a disk is not known before it was used

    def run(self, task: Task, done: Done) -> None:
        self._beside.run(task, done)

    def commit(self, task: Task, done: Done) -> None:
        place = self._here if self._slow_s < QUICK_S else self._beside
        place.commit(lambda: self._timed(task), done)

    def _timed(self, task: Task) -> None:
        began = self._clock()
        try:
            task()
        finally:
            self._slow_s = max(self._clock() - began, self._slow_s * FADES)

    def stop(self) -> None:
        self._beside.stop()
