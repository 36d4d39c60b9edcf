"""Where a commit runs follows how long commits took."""

from collections.abc import Callable

import pytest

from peerline.database.committer import QUICK_S, Done, Inline, Paced, Task


class Beside:
    """A thread that runs what it was handed when the test says so."""

    def __init__(self) -> None:
        self.handed: list[tuple[Task, Done]] = []
        self.stopped = False

    def run(self, task: Task, done: Done) -> None:
        self.handed.append((task, done))

    commit = run

    def turn(self) -> int:
        handed, self.handed = self.handed, []
        for task, done in handed:
            Inline().run(task, done)
        return len(handed)

    def stop(self) -> None:
        self.stopped = True


class Disk:
    """Commits that take as long as the test says; the outcomes in their order."""

    def __init__(self) -> None:
        self.now = 0.0
        self.beside = Beside()
        self.paced = Paced(self.beside, lambda: self.now)
        self.outcomes: list[BaseException | None] = []

    def commit(self, seconds: float, error: Exception | None = None) -> bool:
        """Whether it was run in place."""
        self.paced.commit(self._task(seconds, error), self.outcomes.append)
        return self.beside.turn() == 0

    def _task(self, seconds: float, error: Exception | None) -> Callable[[], None]:
        def task() -> None:
            self.now += seconds
            if error is not None:
                raise error

        return task

    def settle(self) -> None:
        """Commit quickly until it is done in place."""
        for _ in range(200):
            if self.commit(QUICK_S / 50):
                return
        pytest.fail("two hundred quick commits did not make it commit in place")


def test_a_disk_is_not_trusted_before_it_was_used() -> None:
    assert not Disk().commit(QUICK_S / 50)


def test_quick_commits_are_soon_run_in_place() -> None:
    disk = Disk()
    disk.settle()
    assert all(disk.commit(QUICK_S / 2) for _ in range(100))


def test_after_one_slow_commit_the_next_ones_go_to_the_thread_until_it_has_faded() -> None:
    disk = Disk()
    disk.settle()
    assert disk.commit(QUICK_S * 20)  # it could not be known
    beside = [not disk.commit(QUICK_S / 50) for _ in range(100)]
    assert beside[0]
    assert not beside[-1]
    assert beside == sorted(beside, reverse=True)


def test_a_slow_disk_never_stops_the_loop() -> None:
    disk = Disk()
    assert not any(disk.commit(QUICK_S * 2) for _ in range(100))


@pytest.mark.parametrize("settled", [False, True])
def test_a_commit_that_fails_says_so_and_counts_as_slow_as_it_was(settled: bool) -> None:
    disk = Disk()
    if settled:
        disk.settle()
    failed = OSError("the disk refused")
    disk.commit(QUICK_S * 3, failed)
    assert disk.outcomes[-1] is failed
    assert not disk.commit(QUICK_S / 50)


def test_what_may_block_for_long_is_never_run_in_place() -> None:
    disk = Disk()
    disk.settle()
    ran: list[int] = []
    disk.paced.run(lambda: ran.append(1), disk.outcomes.append)
    assert not ran
    assert disk.beside.turn() == 1
    assert ran


def test_it_stops_with_its_thread() -> None:
    disk = Disk()
    disk.paced.stop()
    assert disk.beside.stopped
