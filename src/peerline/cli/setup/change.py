"""One client's file: what would change in it, and the change itself with its backup."""

import os
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final, Literal

from peerline.cli.setup.client import Part
from peerline.cli.setup.entry import Dialect, Edit, Unfit, found, held
from peerline.cli.setup.json_text import JSON
from peerline.cli.setup.record import FileRecord, Manifest, emptied, missing_folders
from peerline.cli.setup.toml_text import TOML

Action = Literal["created", "updated", "unchanged", "removed", "refused"]
BACKUP: Final = "kxm-backup"


@dataclass(slots=True, kw_only=True)
class Change:
    """`before` is None for a file that is not there, `after` for one that goes; `warnings` are for the user."""

    path: Path
    action: Action
    what: str
    before: str | None = None
    after: str | None = None
    record: FileRecord | None = None
    warnings: list[str] = field(default_factory=list)
    backup: Path | None = None

    def facts(self) -> dict[str, Any]:
        facts: dict[str, Any] = {"path": str(self.path), "action": self.action, "what": self.what}
        return facts | ({"backup": str(self.backup)} if self.backup else {})


def addition(client: str, part: Part, manifest: Manifest) -> Change:
    """What has to change so that the part's entries are in its file; nothing is written."""
    path = Path(os.path.realpath(part.path))
    record = manifest.of(client, path) or FileRecord(client=client, path=path, created=False)
    what = ", ".join(entry.what for entry in part.entries)
    try:
        before = _read(path)
        text, edits, warnings = before or "", list(record.edits), []
        for edit in reversed(record.edits):
            if any(edit.of(entry) for entry in part.entries):
                continue
            text = part.dialect.cut(text, edit)
            edits.remove(edit)
        for entry in part.entries:
            data = part.dialect.parse(text)
            if held(data, entry):
                continue
            edits = [edit for edit in edits if not edit.of(entry)]
            if not entry.listed and found(data, entry.path) is not None:
                name = ".".join(entry.path)
                warnings.append(f"{part.path} has a {name} of its own, which stays; take it out to have this one")
                continue
            text, edit = part.dialect.insert(text, entry)
            edits.append(edit)
    except Unfit as why:
        return Change(path=path, action="refused", what=f"{part.path} is left as it is: {why.detail}")
    action: Action = "unchanged" if text == (before or "") else "created" if before is None else "updated"
    if action == "created":
        made = [*missing_folders(path.parent), *record.folders]
        record = replace(record, created=True, folders=list(dict.fromkeys(made)))
    record = replace(record, edits=edits)
    return Change(path=path, action=action, what=what, before=before, after=text, record=record, warnings=warnings)


def removal(record: FileRecord) -> Change:
    """What has to change so that nothing of what was written is left in the file; nothing is written."""
    dialect, path = dialect_of(record.path), record.path
    what = ", ".join(_name(edit) for edit in record.edits) or "nothing of it was left"
    try:
        before = _read(path)
        text, warnings = before or "", []
        for edit in reversed(record.edits):
            if not held(dialect.parse(text), edit):
                warnings += _foreign(path, dialect.parse(text), edit)
                continue
            text = dialect.cut(text, edit)
        empty = record.created and not dialect.parse(text)
    except Unfit as why:
        return Change(path=path, action="refused", what=f"{path} is left as it is: {why.detail}", record=record)
    done = replace(record, edits=[])
    after = None if before is None or empty else text
    action: Action = "unchanged" if after == before else "removed"
    return Change(path=path, action=action, what=what, before=before, after=after, record=done, warnings=warnings)


def written(change: Change, manifest: Manifest, now: datetime) -> Change:
    """Make an addition: first the record of it, then the backup, then the file in one step.

    Raises:
        OSError: the file or its backup could not be written; the file is as it was.
    """
    if change.action == "unchanged" or change.record is None:
        return change
    _unchanged_since(change)
    if change.before is not None:
        name = f"{change.path.name}.{BACKUP}-{now.astimezone(UTC):%Y%m%dT%H%M%SZ}"
        change.backup = _free(change.path.with_name(name))
        change.record.backups = [*change.record.backups, change.backup]
    manifest.keep(change.record)
    if change.backup is not None:
        _copy(change.path, change.backup)
    change.path.parent.mkdir(parents=True, exist_ok=True)
    _replace(change.path, change.after)
    return change


def undone(change: Change, manifest: Manifest) -> Change:
    """Make a removal; the backups go, and the folders that were made for the file if nothing else is in them.

    Raises:
        OSError: the file or a backup could not be changed; what is left is still on record.
    """
    assert change.record is not None
    if change.action == "removed":
        _unchanged_since(change)
        _replace(change.path, change.after)
    for backup in change.record.backups:
        backup.unlink(missing_ok=True)
    manifest.keep(replace(change.record, edits=[], backups=[]))
    if change.after is None:
        emptied(change.record.folders)
    return change


def dialect_of(path: Path) -> Dialect:
    return TOML if path.suffix == ".toml" else JSON


def _name(edit: Edit) -> str:
    return ".".join(edit.path)


def _foreign(path: Path, data: dict[str, Any], edit: Edit) -> list[str]:
    if edit.listed or found(data, edit.path) is None:
        return []
    return [f"{_name(edit)} in {path} is no longer what setup wrote; it stays"]


def _read(path: Path) -> str | None:
    """The file's text, line ends as they are; None if it is not there.

    Raises:
        Unfit: it cannot be read, or is no text.
    """
    try:
        return path.read_bytes().decode("utf-8")
    except FileNotFoundError:
        return None
    except UnicodeDecodeError:
        raise Unfit("it is not in UTF-8") from None
    except OSError as error:
        raise Unfit(f"it cannot be read: {error.strerror}") from None


def _unchanged_since(change: Change) -> None:
    if _read(change.path) != change.before:
        raise OSError(0, "it was changed meanwhile, by its client perhaps; run this again", str(change.path))


def _free(path: Path) -> Path:
    number, candidate = 2, path
    while candidate.exists():
        number, candidate = number + 1, path.with_name(f"{path.name}-{number}")
    return candidate


def _copy(path: Path, backup: Path) -> None:
    mode = path.stat().st_mode & 0o777
    with os.fdopen(os.open(backup, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
        file.write(path.read_bytes())
    backup.chmod(mode)


def _replace(path: Path, after: str | None) -> None:
    """Put `after` in the file's place with the mode it had; None removes it."""
    if after is None:
        path.unlink(missing_ok=True)
        return
    mode = path.stat().st_mode & 0o777 if path.exists() else 0o600
    draft = path.with_name(f"{path.name}.kxm-{os.getpid()}")
    try:
        with os.fdopen(os.open(draft, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "wb") as file:
            file.write(after.encode("utf-8"))
            file.flush()
            os.fsync(file.fileno())
        draft.chmod(mode)
        draft.replace(path)
    finally:
        draft.unlink(missing_ok=True)
