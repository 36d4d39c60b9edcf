"""When a network's remote is looked at, and who says that something came: the daemon that serves this home, else we."""

import threading
from collections.abc import Callable, Mapping
from typing import Final

from peerline.core.errors import PeerlineError
from peerline.network.calls import Calls
from peerline.network.daemon.client import PING_S, DaemonLink, Unreachable
from peerline.network.daemon.nearby import DEBOUNCE_MS, STEP_MS, not_a_lock, watched_places
from peerline.network.daemon.protocol import Refusal
from peerline.network.home import Home

EVERY_S: Final = 10.0
SEEK_S: Final = 2.0  # how soon a daemon that comes, or goes, is noticed


class Looks:
    """Each network in threads of its own, so that a remote that hangs holds up nothing else.

    A daemon that serves this home looks for us, and so goes on telling its person what came; without one `direct` makes
    the operations for one thread. `ring` is called, on those threads, when something may have come.
    """

    def __init__(
        self, home: Home, *, direct: Callable[[], Calls], ring: Callable[[], None], every_s: float = EVERY_S
    ) -> None:
        self._home, self._direct, self._ring, self._every_s = home, direct, ring, every_s
        self._followed: dict[tuple[str, str], _Network] = {}

    def follow(self, remotes: Mapping[str, str]) -> None:
        """Look after these networks, named with their remotes, and after no others."""
        named = set(remotes.items())
        for gone in self._followed.keys() - named:
            self._followed.pop(gone).end()
        for one in named - self._followed.keys():
            self._followed[one] = _Network(self._home, *one, self._direct, self._ring, self._every_s)

    def stop(self) -> None:
        """Begin no further look; one that is under way goes on without us."""
        self.follow({})


class _Network:
    def __init__(
        self,
        home: Home,
        network: str,
        remote: str,
        direct: Callable[[], Calls],
        ring: Callable[[], None],
        every_s: float,
    ) -> None:
        self._home, self._network, self._remote = home, network, remote
        self._make = direct
        self._direct: Calls | None = None
        self._ring, self._every_s = ring, every_s
        self._due, self._ended = threading.Event(), threading.Event()
        for work, name in ((self._look, "look"), (self._listen, "listen")):
            threading.Thread(target=work, name=f"gateway {name} {network}", daemon=True).start()

    def end(self) -> None:
        self._ended.set()
        self._due.set()

    def _look(self) -> None:
        while not self._ended.is_set():
            self._due.clear()
            try:
                self._sync()
            except (PeerlineError, Unreachable, TimeoutError):
                pass  # the network's health says so, and the next look tries again
            self._ring()
            self._due.wait(self._every_s)

    def _sync(self) -> None:
        link = self._daemon()
        if link is None:
            self._direct = self._direct or self._make()
            self._direct.call("sync", {}, self._network)
            return
        try:
            link.call("sync", {}, self._network)
        finally:
            link.close()

    def _listen(self) -> None:
        while not self._ended.is_set():
            link = self._daemon()
            if link is None:
                self._watch()
                continue
            try:
                link.subscribe({}, self._network)
                self._hear(link)
            except (Unreachable, Refusal, TimeoutError):
                pass
            finally:
                link.close()

    def _daemon(self) -> DaemonLink | None:
        """A connection to the daemon; None: none serves this network."""
        try:
            link = DaemonLink(self._home.socket)
        except Unreachable:
            return None
        try:
            if self._network in link.call("ping", {}, timeout=PING_S)["networks"]:
                return link
        except (Unreachable, Refusal, TimeoutError):
            pass
        link.close()
        return None

    def _hear(self, link: DaemonLink) -> None:
        """Raises: Unreachable: the daemon went away."""
        self._ring()  # what came before the subscription was told to nobody
        link.wait(SEEK_S)
        while not self._ended.is_set():
            try:
                link.next_line()
            except TimeoutError:
                continue
            self._ring()

    def _watch(self) -> None:
        """Until a daemon may have come. A remote on this machine is watched: it moves, and is looked at at once."""
        places = watched_places(self._remote)
        if not places:
            self._ended.wait(SEEK_S)
            return
        import watchfiles

        armed = False
        for changes in watchfiles.watch(
            *places,
            watch_filter=not_a_lock,
            debounce=DEBOUNCE_MS,
            step=STEP_MS,
            stop_event=self._ended,
            rust_timeout=round(SEEK_S * 1000),
            yield_on_timeout=True,
            raise_interrupt=False,
        ):
            if changes or not armed:  # what moved before the watch began told nobody
                armed = True
                self._due.set()
            elif (link := self._daemon()) is not None:
                link.close()
                return
