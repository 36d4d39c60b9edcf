"""`$KOMNET_HOME/gateway`: the folders that a gateway and the sessions of this machine share (spec/network.md 5, 9)."""

import os
from pathlib import Path

from peerline.database.folder import private_folder
from peerline.network.home import Home


class GatewayPlace:
    def __init__(self, home: Home) -> None:
        self.folder: Path = home.gateway
        self.requests = self.folder / "requests"
        self.claimed = self.folder / "claimed"
        self.results = self.folder / "results"
        self.replies = self.folder / "replies"
        self.routes = self.folder / "routes.json"
        self.journal = self.folder / "gateway.db"
        self.lock = self.folder / "gateway.lock"

    @property
    def made(self) -> bool:
        """Whether a gateway ever ran here: a session refuses to queue where none did."""
        return self.requests.is_dir()

    def make(self) -> None:
        """Raises: OSError."""
        for folder in (self.folder, self.requests, self.claimed, self.results, self.replies):
            private_folder(folder)


def write_whole(file: Path, text: str) -> None:
    """Put `text` there in one step, durably, readable by this user only.

    Raises:
        OSError: what was there before is still there.
    """
    private_folder(file.parent)
    part = file.with_name(f".{file.name}.{os.getpid()}")
    try:
        descriptor = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
        with os.fdopen(descriptor, "w", encoding="utf-8", errors="backslashreplace") as stream:
            stream.write(text)
            stream.flush()
            os.fsync(stream.fileno())
        part.replace(file)
        sync_folder(file.parent)
    finally:
        part.unlink(missing_ok=True)


def sync_folder(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
