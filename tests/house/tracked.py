"""What git would commit, and the pages among it."""

import subprocess
from functools import cache
from pathlib import Path
from typing import Final

ROOT: Final = Path(__file__).parents[2]


@cache
def tracked() -> list[Path]:
    """Tracked files that still exist, and new ones that are not ignored."""
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    ).stdout
    return [path for name in listed.decode().split("\0") if name and (path := ROOT / name).is_file()]


def pages() -> list[Path]:
    return [path for path in tracked() if path.suffix == ".md"]


def modules() -> list[Path]:
    return [path for path in tracked() if path.is_relative_to(ROOT / "src") and path.suffix == ".py"]


def shown(path: Path) -> str:
    return str(path.relative_to(ROOT))
