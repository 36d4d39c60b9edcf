"""What setup has written in this user's home, so that it can be taken out again: `setup.json` in the state folder."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final, Self

from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import private_write
from peerline.cli.setup.entry import Edit

SCHEMA: Final = "kxm.setup.v1"


@dataclass(slots=True, kw_only=True)
class FileRecord:
    """One file: whether setup made it, with which folders, what it wrote into it and where its backups are."""

    client: str
    path: Path
    created: bool
    folders: list[Path] = field(default_factory=list)
    backups: list[Path] = field(default_factory=list)
    edits: list[Edit] = field(default_factory=list)

    def as_record(self) -> dict[str, Any]:
        return {
            "client": self.client,
            "path": str(self.path),
            "created": self.created,
            "folders": [str(one) for one in self.folders],
            "backups": [str(one) for one in self.backups],
            "edits": [edit.as_record() for edit in self.edits],
        }

    @classmethod
    def from_record(cls, record: dict[str, Any]) -> Self:
        return cls(
            client=record["client"],
            path=Path(record["path"]),
            created=bool(record["created"]),
            folders=[Path(one) for one in record["folders"]],
            backups=[Path(one) for one in record["backups"]],
            edits=[Edit.from_record(one) for one in record["edits"]],
        )


class Manifest:
    """All file records. `folders`: what was made for the state folder itself; None if it was there before setup.

    Raises:
        Failure: the file cannot be read; it is never overwritten then.
    """

    def __init__(self, root: Path) -> None:
        self._path = root / "setup.json"
        self._root = root
        self.files: list[FileRecord] = []
        self.folders: list[Path] | None = None
        try:
            body = json.loads(self._path.read_bytes())
            if body["schema"] != SCHEMA:
                raise ValueError
            self.files = [FileRecord.from_record(one) for one in body["files"]]
            self.folders = None if body["folders"] is None else [Path(one) for one in body["folders"]]
        except FileNotFoundError:
            self.folders = None if root.exists() else missing_folders(root)
        except (OSError, ValueError, KeyError, TypeError):
            raise Failure(
                f"{self._path} cannot be read, so what setup wrote is not known; restore it, or remove it and the"
                " entries named kxm in your clients' files by hand"
            ) from None

    def of(self, client: str, path: Path) -> FileRecord | None:
        return next((one for one in self.files if one.client == client and one.path == path), None)

    def keep(self, record: FileRecord) -> None:
        """Write the record down, in place of the one for the same file; one without edits is forgotten.

        Raises:
            Failure: the state folder cannot be written.
        """
        before = [one.as_record() for one in self.files]
        self.files = [one for one in self.files if (one.client, one.path) != (record.client, record.path)]
        if record.edits or record.backups:
            self.files.append(record)
        if [one.as_record() for one in self.files] != before:
            self._save()

    def remove(self) -> None:
        """Forget everything; the state folder goes too if nothing else is in it and setup made it."""
        self._path.unlink(missing_ok=True)
        if self.folders and self._root.is_dir() and not any(self._root.iterdir()):
            emptied(self.folders)

    def _save(self) -> None:
        body = {
            "schema": SCHEMA,
            "folders": None if self.folders is None else [str(one) for one in self.folders],
            "files": [one.as_record() for one in self.files],
        }
        try:
            private_write(str(self._path), (json.dumps(body, indent=2) + "\n").encode())
        except OSError as error:
            raise Failure(f"the state folder cannot be used: {error.strerror}: {self._root}") from None


def missing_folders(path: Path) -> list[Path]:
    """`path` and the folders above it that do not exist, the deepest first."""
    return [one for one in (path, *path.parents) if not one.exists()]


def emptied(folders: list[Path]) -> None:
    """Remove the folders, the deepest first, up to the first that is not empty."""
    for folder in folders:
        try:
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            return
