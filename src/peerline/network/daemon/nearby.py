"""A remote on this machine is watched instead of asked: its refs change, and the loop looks at once."""

from collections.abc import Callable
from pathlib import Path
from typing import Final

DEBOUNCE_MS: Final = 50
STEP_MS: Final = 10


def local_path(remote: str) -> Path | None:
    """The folder of a remote that is a path, or None."""
    if remote.startswith("file://"):
        return Path(remote.removeprefix("file://"))
    return Path(remote) if remote.startswith(("/", "./", "../")) else None


def watched_places(remote: str) -> list[Path]:
    """The folders in which the refs of a local remote lie; none for any other remote."""
    folder = local_path(remote)
    return [folder / name for name in ("refs", "reftable") if (folder / name).is_dir()] if folder else []


async def watch_local_remote(remote: str, moved: Callable[[], None]) -> None:
    """Call `moved` whenever a ref of a local remote changes; returns at once for any other remote."""
    places = watched_places(remote)
    if not places:
        return
    from watchfiles import awatch

    async for _ in awatch(*places, watch_filter=not_a_lock, debounce=DEBOUNCE_MS, step=STEP_MS):
        moved()


def not_a_lock(_: object, path: str) -> bool:
    return not path.endswith(".lock")
