"""What this machine knows of each branch of the remote, and how far it has examined it."""

from typing import Any, Final, NamedTuple

from peerline.core.ids import Millis
from peerline.database.sql import Sql


class Branch(NamedTuple):
    """`head` is the remote's commit at the last look; `cursor` the last one whose changes were all examined.

    `noticed` is how a branch that isn't followed was first reported; `rewritten_at` stays until a person confirms it.
    """

    name: str
    head: str | None = None
    cursor: str | None = None
    noticed: str | None = None
    gone: bool = False
    rewritten_at: Millis | None = None
    rewritten_from: str | None = None
    trouble: str | None = None


class BranchTable:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def all(self) -> dict[str, Branch]:
        rows = self._sql.rows(
            "SELECT name, head, cursor, noticed, gone, rewritten_at, rewritten_from, trouble FROM branch"
        )
        return {row[0]: _branch(row) for row in rows}

    def get(self, name: str) -> Branch:
        """An unknown branch is one of which nothing is known."""
        row = self._sql.row(
            "SELECT name, head, cursor, noticed, gone, rewritten_at, rewritten_from, trouble FROM branch"
            " WHERE name = :name",
            name=name,
        )
        return _branch(row) if row else Branch(name)

    def set(self, name: str, **values: Any) -> None:
        """Change what is given."""
        self._sql.run("INSERT OR IGNORE INTO branch (name) VALUES (:name)", name=name)
        for column, value in values.items():
            self._sql.run(_SETTERS[column], name=name, value=value)


_SETTERS: Final = {
    "head": "UPDATE branch SET head = :value WHERE name = :name",
    "cursor": "UPDATE branch SET cursor = :value WHERE name = :name",
    "noticed": "UPDATE branch SET noticed = :value WHERE name = :name",
    "gone": "UPDATE branch SET gone = :value WHERE name = :name",
    "rewritten_at": "UPDATE branch SET rewritten_at = :value WHERE name = :name",
    "rewritten_from": "UPDATE branch SET rewritten_from = :value WHERE name = :name",
    "trouble": "UPDATE branch SET trouble = :value WHERE name = :name",
}


def _branch(row: tuple[Any, ...]) -> Branch:
    name, head, cursor, noticed, gone, rewritten_at, rewritten_from, trouble = row
    return Branch(name, head, cursor, noticed, bool(gone), rewritten_at, rewritten_from, trouble)
