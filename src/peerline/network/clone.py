"""One network's copy on this machine: the bare repository, the tables, and the lock on moving branches."""

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, NamedTuple

from peerline.core.ids import Entropy, Millis
from peerline.network.git.address import remote_address
from peerline.network.git.repository import open_repository, set_aside
from peerline.network.git.runner import Git, Limits
from peerline.network.lock import branch_lock
from peerline.network.place import Identity, Place

if TYPE_CHECKING:
    from peerline.network.git.append import Author
    from peerline.network.tables.file import NetworkFile


class Surroundings(NamedTuple):
    """What comes from outside: clock, chance, environment, limits; `pause` waits between tries, `probe` is told each
    step of a send, a flush and a sync by name (tests end the process there)."""

    now: Callable[[], Millis]
    entropy: Entropy
    environ: Mapping[str, str]
    limits: Limits = Limits()
    pause: Callable[[float], None] = time.sleep
    monotonic: Callable[[], float] = time.monotonic
    probe: Callable[[str], None] = lambda step: None

    def chance(self) -> float:
        """In [0, 1)."""
        return int.from_bytes(self.entropy(4), "big") / 2**32


class Clone:
    def __init__(self, place: Place, identity: Identity, around: Surroundings) -> None:
        """Raises: BadRemote."""
        self.place, self.identity, self.around = place, identity, around
        self.address = remote_address(place.remote)
        self._file: NetworkFile | None = None
        self._opening = threading.Lock()
        self._git: Git | None = None

    @property
    def file(self) -> "NetworkFile":
        """The tables; loaded when they are first asked for, which may be while git asks the remote."""
        with self._opening:
            if self._file is None:
                from peerline.network.tables.file import NetworkFile

                self._file = NetworkFile(self.place.folder / "peerline.db")
            return self._file

    @property
    def git(self) -> Git:
        """Git on the repository, which is made at the first use.

        Raises: GitFailed
        """
        if self._git is None:
            self._git = open_repository(
                self.place.folder / "git", self.address, self.around.environ, limits=self.around.limits
            )
        return self._git

    @contextmanager
    def locked(self, wait_s: float) -> Iterator[None]:
        """Alone with the branches.

        Raises: Busy
        """
        with branch_lock(
            self.place.folder / "git.lock", wait_s, monotonic=self.around.monotonic, pause=self.around.pause
        ):
            yield

    def set_aside(self) -> None:
        """Start with an empty repository; the tables stay, and what they miss is fetched anew."""
        folder = self.git.repository
        self._git = None
        set_aside(folder)

    @property
    def author(self) -> "Author":
        """Who our commits are by: the environment, else the user's git configuration, else the agent itself."""
        from peerline.network.git.append import Author  # here: who only reads writes no commit

        environ, values = self.around.environ, self.git.user.values
        return Author(
            environ.get("GIT_AUTHOR_NAME") or values.get("user.name") or self.identity.display_name,
            environ.get("GIT_AUTHOR_EMAIL")
            or values.get("user.email")
            or f"{self.identity.agent}@{self.place.network}.komnet.invalid",
        )

    def close(self) -> None:
        with self._opening:
            if self._file is not None:
                self._file.close()
