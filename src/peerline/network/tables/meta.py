"""Small facts about this copy of the network, by name."""

from peerline.database.sql import Sql


class MetaTable:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def get(self, name: str) -> str | None:
        row = self._sql.row("SELECT value FROM meta WHERE name = :name", name=name)
        return row[0] if row else None

    def number(self, name: str) -> int | None:
        text = self.get(name)
        return None if text is None else int(text)

    def set(self, name: str, value: str | int | None) -> None:
        """None: forget it."""
        if value is None:
            self._sql.run("DELETE FROM meta WHERE name = :name", name=name)
        else:
            self._sql.run(
                "INSERT OR REPLACE INTO meta (name, value) VALUES (:name, :value)", name=name, value=str(value)
            )
