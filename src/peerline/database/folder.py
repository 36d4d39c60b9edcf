"""Folders for this user alone. Short commands load this, so it loads next to nothing."""

from pathlib import Path


def private_folder(path: Path) -> None:
    """Make the folder and those that are missing above it, all for this user alone; what is there stays as it is.

    Raises:
        OSError
    """
    if not path.parent.is_dir():
        private_folder(path.parent)
    path.mkdir(mode=0o700, exist_ok=True)
