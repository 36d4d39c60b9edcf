"""A remote on this machine is watched instead of asked: its refs change, and the loop looks at once."""

from collections.abc import Callable
from pathlib import Path

DEBOUNCE_MS = 50


def local_path(remote: str) -> Path | None:
    """The folder of a remote that is a path, or None."""
    if remote.startswith("file://"):
        return Path(remote.removeprefix("file://"))
    return Path(remote) if remote.startswith(("/", "./", "../")) else None


async def watch_local_remote(remote: str, moved: Callable[[], None]) -> None:
    """Call `moved` whenever a ref of a local remote changes; returns at once for any other remote."""
    folder = local_path(remote)
    places = [folder / name for name in ("refs", "reftable") if (folder / name).is_dir()] if folder else []
    if not places:
        return
    from watchfiles import awatch

    async for _ in awatch(*places, watch_filter=_not_a_lock, debounce=DEBOUNCE_MS, step=10):
        moved()


def _not_a_lock(_: object, path: str) -> bool:
    return not path.endswith(".lock")
