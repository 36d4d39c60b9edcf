"""Statements with named parameters, one at a time, their results always consumed (apsw runs them lazily)."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import apsw


class Sql:
    """One transaction's view of a connection. `writes` counts rows changed, so that a replay knows what it undoes."""

    __slots__ = ("_connection", "_execute", "_execute_many", "writes")

    def __init__(self, connection: apsw.Connection) -> None:
        self._connection = connection
        cursor = connection.cursor()
        self._execute, self._execute_many = cursor.execute, cursor.executemany
        self.writes = 0

    def rows(self, statement: str, **values: Any) -> list[tuple[Any, ...]]:
        return self._execute(statement, values).fetchall()

    def row(self, statement: str, **values: Any) -> tuple[Any, ...] | None:
        """The first row, or None."""
        found = self._execute(statement, values).fetchall()
        return found[0] if found else None

    def run(self, statement: str, **values: Any) -> int:
        """Change rows; returns how many."""
        self._execute(statement, values).fetchall()
        changed = self._connection.changes()
        self.writes += changed
        return changed

    def put(self, statement: str, values: Sequence[Any] | Mapping[str, Any]) -> None:
        """Change something, on the hot routes: `run` without a count. One statement that returns no rows: then it is
        done when it was executed. Numbered parameters cost less than names."""
        self._execute(statement, values)
        self.writes += 1

    def run_many(self, statement: str, rows: Iterable[tuple[Any, ...]]) -> None:
        """The same change for many rows of positional values."""
        self._execute_many(statement, rows).fetchall()
        self.writes += 1

    def insert(self, statement: str, **values: Any) -> int:
        """Insert one row; returns its number."""
        self._execute(statement, values).fetchall()
        self.writes += 1
        return self._connection.last_insert_rowid()
