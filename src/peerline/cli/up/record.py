"""What the supervisor of this machine writes down of itself: who it is, and how each part stands."""

import json
import os
import signal
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Final

from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import private_write, state_root
from peerline.cli.up.supervisor import Standing
from peerline.database.folder import private_folder
from peerline.database.lock import FileLock, lock_holder

LOOK_S: Final = 0.02
ENDED_S: Final = 45.0


class Record:
    """`supervisor.lock` is held while it runs; `supervisor.json` says how all stood."""

    def __init__(self, env: Mapping[str, str]) -> None:
        self.root = Path(state_root(env))
        self.out = self.root / "supervisor.out"
        self._lock, self._standings = self.root / "supervisor.lock", self.root / "supervisor.json"

    def hold(self) -> FileLock:
        """Raises: Held: another one runs on this machine."""
        private_folder(self.root)
        return FileLock(self._lock)

    @property
    def pid(self) -> int | None:
        """The supervisor that runs; -1 if its number cannot be told."""
        return lock_holder(self._lock)

    def write(self, standings: list[Standing]) -> None:
        with suppress(OSError):  # a full disk must not end what it supervises
            private_write(
                str(self._standings),
                json.dumps({"supervisor": os.getpid(), "parts": [asdict(one) for one in standings]}).encode(),
            )

    def read(self) -> list[Standing]:
        """How each part stood when that was last written, by whichever supervisor."""
        try:
            return [Standing(**one) for one in self._object()["parts"]]
        except (KeyError, TypeError):
            return []

    @property
    def told(self) -> bool:
        """Whether the supervisor that runs has written how its parts stand."""
        pid = self.pid
        return pid is not None and self._object().get("supervisor") == pid

    def _object(self) -> dict[str, Any]:
        try:
            found = json.loads(self._standings.read_bytes())
        except (OSError, ValueError):
            return {}
        return found if isinstance(found, dict) else {}

    def forget(self) -> None:
        self._standings.unlink(missing_ok=True)

    def end(self) -> int | None:
        """Ask the supervisor to end its parts and itself, and wait for that; its process, or None if none ran.

        Raises:
            Failure: it goes on.
        """
        pid = self.pid
        if pid is None or pid < 0:
            return None
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGTERM)
        end = time.monotonic() + ENDED_S
        while self.pid == pid:
            if time.monotonic() > end:
                raise Failure(f"the supervisor (process {pid}) has not ended after {ENDED_S:.0f} s; see {self.out}")
            time.sleep(LOOK_S)
        return pid
