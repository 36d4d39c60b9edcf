"""What setup did to one client, for a person and as facts."""

import os
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from peerline.cli.person_voice import Voice
from peerline.cli.setup.change import Change
from peerline.cli.setup.client import Env, home
from peerline.cli.setup.probe import Checked
from peerline.core.fence import visible

COLUMN: Final = 10
STYLES: Final = {"created": "green", "updated": "green", "removed": "green", "refused": "red", "warning": "yellow"}


@dataclass(slots=True, kw_only=True)
class Report:
    """`program` is None for a client that is not on the PATH."""

    name: str
    title: str
    program: str | None
    changes: list[Change] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    checks: list[Checked] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def failed(self) -> bool:
        refused = any(change.action == "refused" for change in self.changes)
        return refused or any(check.ok is False for check in self.checks)

    def lines(self, voice: Voice, env: Env, *, planned: bool = False) -> list[str]:
        lines = [voice.styled(self.title, "bold") + (f" ({self.program})" if self.program else "")]
        for change in self.changes:
            text = change.what if change.action == "refused" else f"{_short(change.path, env)}: {change.what}"
            backup = f" (backup: {change.backup.name})" if change.backup else ""
            lines.append(_line(voice, _will(change.action) if planned else change.action, text + backup))
        for label, texts in (
            ("warning", self.warnings),
            ("check", [check.text for check in self.checks]),
            ("note", self.notes),
        ):
            lines += [_line(voice, label, text) for text in texts]
        return lines

    def facts(self) -> dict[str, Any]:
        return {
            "target": self.name,
            "program": self.program,
            "changes": [change.facts() for change in self.changes],
            "warnings": self.warnings,
            "checks": [check.facts() for check in self.checks],
            "notes": self.notes,
        }


def told(
    voice: Voice, reports: Sequence[Report], env: Env, last: Sequence[str], *, failed: bool = False, **facts: Any
) -> int:
    """Print all reports, and `last` for a person; the exit code, 1 if anything was refused or a check failed."""
    planned = bool(facts.get("dryRun"))
    lines = [line for report in reports for line in report.lines(voice, env, planned=planned)]
    code = 1 if failed or any(report.failed for report in reports) else 0
    return voice.done([*lines, *last], code, clients=[report.facts() for report in reports], **facts)


def _line(voice: Voice, label: str, text: str) -> str:
    padded = f"{label:<{COLUMN}}"
    return f"  {voice.styled(padded, STYLES[label]) if label in STYLES else padded} {visible(text, 2_000)}"


def _will(action: str) -> str:
    return {"created": "create", "updated": "update", "removed": "remove", "refused": "refuse"}.get(action, action)


def _short(path: Path, env: Env) -> str:
    base = os.path.realpath(home(env))
    return f"~/{path.relative_to(base)}" if path.is_relative_to(base) else str(path)
