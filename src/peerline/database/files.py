"""What a file holds, as a digest, and getting it onto the disk."""

import hashlib
import os
from pathlib import Path
from typing import Final

_CHUNK: Final = 1 << 20


def sha256(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while piece := file.read(_CHUNK):
            digest.update(piece)
    return digest.hexdigest()


def sync(path: Path) -> None:
    """Force a file or a folder to the disk."""
    opened = os.open(path, os.O_RDONLY)
    try:
        os.fsync(opened)
    finally:
        os.close(opened)
