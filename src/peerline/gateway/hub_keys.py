"""How the gateway finds back to its agents on the hub: a token and a session key a project, for this user only."""

import json
import os
from pathlib import Path
from typing import Any

from peerline.gateway.place import write_whole

SIZE_AT_MOST = 1 << 20


class HubKeys:
    """A file that is gone or can't be read costs a new token, nothing else."""

    def __init__(self, file: Path) -> None:
        self._file = file
        self._projects = _read(file)

    def token(self, project: str) -> str | None:
        return self._projects.get(project, {}).get("token")

    def key(self, project: str) -> str | None:
        return self._projects.get(project, {}).get("key")

    def keep(self, project: str, **values: str) -> None:
        self._projects[project] = {**self._projects.get(project, {}), **values}
        self._write()

    def forget(self, project: str) -> None:
        """Its token is not taken any more."""
        if self._projects.get(project, {}).pop("token", None) is not None:
            self._write()

    def _write(self) -> None:
        try:
            write_whole(self._file, json.dumps({"v": 1, "projects": self._projects}, indent=2) + "\n")
        except OSError:
            pass  # kept in memory; the next start mints anew


def _read(file: Path) -> dict[str, dict[str, str]]:
    try:
        with os.fdopen(os.open(file, os.O_RDONLY | os.O_NOFOLLOW | os.O_CLOEXEC), "rb") as stream:
            value: Any = json.loads(stream.read(SIZE_AT_MOST))
        projects = value["projects"]
        return {
            str(project): {name: text for name, text in kept.items() if isinstance(text, str)}
            for project, kept in projects.items()
        }
    except (OSError, ValueError, KeyError, TypeError, AttributeError):
        return {}
