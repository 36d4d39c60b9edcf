"""Where the blocking part of a group runs: on a thread beside the event loop, or, in a simulation, at once."""

import threading
from collections.abc import Callable
from queue import SimpleQueue
from typing import Protocol

Task = Callable[[], None]
Done = Callable[[BaseException | None], None]


class Committer(Protocol):
    def run(self, task: Task, done: Done) -> None:
        """Run `task`, then call `done` with what it raised, or None, where the writer lives."""

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

    def stop(self) -> None:
        pass


class Threaded:
    """One thread; `settle` carries `done` back to the loop's thread (`loop.call_soon_threadsafe`)."""

    def __init__(self, settle: Callable[[Callable[[], None]], object]) -> None:
        self._settle = settle
        self._tasks: SimpleQueue[tuple[Task, Done] | None] = SimpleQueue()
        self._thread = threading.Thread(target=self._loop, name="commit", daemon=True)
        self._thread.start()

    def run(self, task: Task, done: Done) -> None:
        self._tasks.put((task, done))

    def stop(self) -> None:
        self._tasks.put(None)
        self._thread.join()

    def _loop(self) -> None:
        while (handed := self._tasks.get()) is not None:
            task, done = handed
            outcome: BaseException | None = None
            try:
                task()
            except Exception as error:
                outcome = error
            self._settle(lambda done=done, outcome=outcome: done(outcome))  # type: ignore[misc]
