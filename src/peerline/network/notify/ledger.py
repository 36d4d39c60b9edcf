"""What a person was told of already: the daemon and the gateway share it, so that one thing is told once."""

import fcntl
import os
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from peerline.database.folder import private_folder

KEPT: Final = 2_000  # of these the older ones may be told again, long after they came


class Ledger:
    """Lines in one file, written under its lock. A file that cannot be used makes everything new: told twice is better
    than not at all."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def new(self, keys: Sequence[str]) -> set[str]:
        """Those that nobody was told of; from now on they count as told."""
        if not keys:
            return set()
        try:
            return self._marked(keys)
        except OSError:
            return set(keys)

    def _marked(self, keys: Sequence[str]) -> set[str]:
        private_folder(self._path.parent)
        flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
        with os.fdopen(os.open(self._path, flags, 0o600), "r+", encoding="utf-8", errors="replace") as file:
            fcntl.flock(file, fcntl.LOCK_EX)
            known = file.read().splitlines()
            found = {key for key in keys if key not in set(known)}
            if not found:
                return found
            kept = [*known, *sorted(found)][-KEPT:]
            file.seek(0)
            file.write("".join(f"{line}\n" for line in kept))
            file.truncate()
            file.flush()
            return found
