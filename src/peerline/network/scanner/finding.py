"""Where a secret stands, and of which kind it is; never the secret."""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True, order=True)
class Finding:
    """One suspected secret. `line` and `column` count from 1, columns in characters (spec/network.md 10)."""

    line: int
    column: int
    rule: str


@dataclass(frozen=True, slots=True)
class FieldFinding:
    """A finding and the field of the post that holds it: `body`, `tags[2]`, `unsafe_reason`."""

    field: str
    finding: Finding

    def __str__(self) -> str:
        where = f"line {self.finding.line}, column {self.finding.column}"
        return f"{self.finding.rule} in {self.field} at {where}"
