"""The writer: one transaction for all, an outcome for each, nothing answered before the commit."""

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import apsw
import pytest

from peerline.core.errors import Busy, Conflict, PeerlineError, Stopping, StorageFull
from peerline.database.checkpoint import Checkpoints
from peerline.database.committer import Done, Inline, Task
from peerline.database.connection import open_writer, prepare
from peerline.database.later import Later
from peerline.database.sql import Sql
from peerline.database.writer import Writer


class Plain:
    """A scope that hands out the connection's view itself and remembers what it was told."""

    def __init__(self) -> None:
        self.told: list[str] = []

    def bind(self, sql: Sql) -> None:
        self.sql = sql

    def enter(self) -> Sql:
        return self.sql

    def aside(self) -> Any:
        return "aside"

    def done(self, aside: Any) -> None:
        self.told.append("done")

    def undone(self) -> None:
        pass

    def wrote(self) -> None:
        self.told.append("wrote")

    def refused(self, error: BaseException) -> None:
        self.told.append(type(error).__name__)


class Held:
    """A committer whose blocking part runs when the test says so."""

    def __init__(self) -> None:
        self.waiting: list[tuple[Task, Done]] = []

    def run(self, task: Task, done: Done) -> None:
        self.waiting.append((task, done))

    commit = run

    def release(self) -> None:
        task, done = self.waiting.pop(0)
        Inline().run(task, done)

    def stop(self) -> None:
        pass


class Turn:
    """The end of the event loop's turn, when the test says so."""

    def __init__(self) -> None:
        self.calls: list[Callable[[], None]] = []

    def __call__(self, call: Callable[[], None]) -> None:
        self.calls.append(call)

    def end(self) -> None:
        calls, self.calls = self.calls, []
        for call in calls:
            call()


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "hub.db"


@pytest.fixture
def connection(file: Path) -> Iterator[apsw.Connection]:
    prepare(file)
    opened = open_writer(str(file))
    opened.execute("CREATE TABLE t (n INTEGER PRIMARY KEY, text TEXT) STRICT").fetchall()
    yield opened
    opened.close()


def put(number: int) -> Callable[[Sql], int]:
    return lambda sql: sql.insert("INSERT INTO t (n, text) VALUES (:n, 'x')", n=number)


def numbers(connection: apsw.Connection) -> list[int]:
    return [int(str(row[0])) for row in connection.execute("SELECT n FROM t ORDER BY n").fetchall()]


def a_writer(connection: apsw.Connection, committer: Any = None, scope: Plain | None = None, **more: Any) -> Writer:
    checkpoints = Checkpoints("", background=False)
    return Writer(connection, checkpoints, committer or Inline(), scope or Plain(), **more)


def test_what_arrives_in_one_turn_shares_one_commit(connection: apsw.Connection) -> None:
    turn = Turn()
    points: list[str] = []
    writer = a_writer(connection, soon=turn, probe=points.append)
    results = [writer.submit(put(number)) for number in range(5)]
    assert not any(result.settled for result in results)
    turn.end()
    assert [result.result() for result in results] == [0, 1, 2, 3, 4]
    assert points == ["begun", *["worked"] * 5, "before_commit", "committed"]


def test_nothing_is_answered_before_the_commit_not_even_a_refusal_or_a_reading(connection: apsw.Connection) -> None:
    held, turn = Held(), Turn()
    writer = a_writer(connection, held, soon=turn)

    def refuse(sql: Sql) -> None:
        raise Conflict("no")

    results: list[Later[Any]] = [
        writer.submit(put(1)),
        writer.submit(refuse),
        writer.submit(lambda sql: sql.rows("SELECT n FROM t")),
    ]
    turn.end()
    assert not any(result.settled for result in results)
    held.release()
    assert results[0].result() == 1
    assert isinstance(results[1].error, Conflict)
    assert results[2].result() == [(1,)]


def test_a_work_that_raises_undoes_its_own_changes_only(connection: apsw.Connection) -> None:
    turn = Turn()
    writer = a_writer(connection, soon=turn)

    def half(sql: Sql) -> None:
        sql.insert("INSERT INTO t (n) VALUES (7)")
        raise Conflict("after a change")

    before, broken, after = writer.submit(put(1)), writer.submit(half), writer.submit(put(2))
    turn.end()
    assert (before.result(), after.result()) == (1, 2)
    assert isinstance(broken.error, Conflict)
    assert numbers(connection) == [1, 2]


def test_what_a_callback_submits_is_done_without_calling_deeper(connection: apsw.Connection) -> None:
    turn = Turn()
    writer = a_writer(connection, soon=turn)
    reached: list[int] = []

    def again(done: Later[Any]) -> None:
        reached.append(len(reached))
        if len(reached) < 5_000:
            writer.submit(lambda sql: sql.rows("SELECT 1")).then(again)

    writer.submit(lambda sql: sql.rows("SELECT 1")).then(again)
    turn.end()
    assert len(reached) == 5_000


def test_a_full_disk_refuses_what_does_not_fit_and_keeps_the_rest(connection: apsw.Connection) -> None:
    turn, scope = Turn(), Plain()
    writer = a_writer(connection, scope=scope, soon=turn)
    pages = int(str(connection.pragma("page_count")))
    connection.pragma("max_page_count", pages + 8)

    def large(sql: Sql) -> int:
        return sql.insert("INSERT INTO t (text) VALUES (:text)", text="x" * 200_000)

    results = [writer.submit(put(1)), writer.submit(large), writer.submit(put(2))]
    turn.end()
    assert [result.failed for result in results] == [False, True, False]
    assert isinstance(results[1].error, StorageFull)
    assert numbers(connection) == [1, 2]
    assert "StorageFull" in scope.told
    connection.pragma("max_page_count", pages + 1_000)
    again = writer.submit(large)
    turn.end()
    assert again.result() == 3, "service resumes by itself"
    assert scope.told[-2:] == ["wrote", "done"]


def test_another_process_that_writes_is_waited_for_and_then_refused(
    connection: apsw.Connection, file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("peerline.database.writer.BUSY_MS", 1)
    other = apsw.Connection(str(file))
    other.execute("BEGIN EXCLUSIVE").fetchall()
    held = Held()
    writer = a_writer(connection, held)
    first = writer.submit(put(1))
    held.release()  # waits for the lock in vain
    assert isinstance(first.error, Busy)
    second = writer.submit(put(2))
    other.execute("ROLLBACK").fetchall()
    held.release()  # gets the lock
    held.release()  # commits
    assert second.result() == 2
    other.close()
    assert numbers(connection) == [2]


def test_a_failed_fsync_ends_everything(connection: apsw.Connection) -> None:
    ended: list[BaseException] = []
    writer = a_writer(connection, fatal=ended.append)
    error = apsw.IOError("disk")
    error.extendedresult = apsw.SQLITE_IOERR_FSYNC  # type: ignore[attr-defined]

    def broken(sql: Sql) -> None:
        raise error

    first, second = writer.submit(broken), writer.submit(put(1))
    assert isinstance(first.error, PeerlineError)
    assert first.error.code == "storage_failed"
    assert isinstance(second.error, Stopping)
    assert ended == [error]


def test_closing_finishes_what_was_queued_and_takes_no_more(connection: apsw.Connection) -> None:
    turn, idle = Turn(), []
    writer = a_writer(connection, soon=turn)
    queued = writer.submit(put(1))
    writer.close(lambda: idle.append(True))
    assert isinstance(writer.submit(put(2)).error, Stopping)
    turn.end()
    assert queued.result() == 1
    assert idle == [True]


def test_a_log_that_somebody_holds_stops_changes_but_not_readings(connection: apsw.Connection) -> None:
    alarms: list[int] = []
    checkpoints = Checkpoints("", background=False)
    writer = Writer(connection, checkpoints, Inline(), Plain(), alarm=alarms.append)
    writer.submit(put(1)).result()

    def held(connection: apsw.Connection, alarm: Callable[[int], None]) -> bool:
        alarm(20_000)
        return False

    checkpoints.pages = 20_000
    checkpoints.force = held  # type: ignore[method-assign]
    assert writer.submit(lambda sql: sql.rows("SELECT n FROM t")).result() == [(1,)]
    assert isinstance(writer.submit(put(2)).error, Busy)
    assert alarms == [20_000, 20_000]


def test_a_listener_that_fails_takes_nothing_from_the_others(connection: apsw.Connection) -> None:
    turn = Turn()
    faults: list[BaseException] = []
    writer = a_writer(connection, soon=turn, oops=faults.append)

    def broken(done: Later[int]) -> None:
        raise RuntimeError("a bug")

    writer.submit(put(1)).then(broken)
    second = writer.submit(put(2))
    turn.end()
    assert second.result() == 2
    assert [str(fault) for fault in faults] == ["a bug"]
    third = writer.submit(put(3))
    turn.end()
    assert third.result() == 3
