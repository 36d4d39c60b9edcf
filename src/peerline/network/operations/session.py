"""What an operation works with: one network of one agent, and when to look at its remote before answering."""

import functools
import threading
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from peerline.core.ids import Entropy, Millis
from peerline.network.clone import Clone, Surroundings
from peerline.network.config import Config, Joined, Me, NotConfigured, change_config, load_config
from peerline.network.home import Home
from peerline.network.look import look
from peerline.network.place import Identity, Place

if TYPE_CHECKING:
    from peerline.network.engine import Engine
    from peerline.network.view import View

FRESH_MS = 10_000  # a read does not look again so soon
PATIENCE_S = 10.0  # for a remote that answered the last time
IMPATIENCE_S = 0.2  # for one that did not


class FollowedRooms:
    """The rooms that config.yaml names now; another process may change them at any time."""

    def __init__(self, home: Home, network: str) -> None:
        self._home, self._network = home, network

    def get(self) -> tuple[str, ...]:
        try:
            joined = load_config(self._home).networks.get(self._network)
        except NotConfigured:
            return ()
        return joined.rooms if joined is not None else ()

    def add(self, room: str) -> None:
        self._change(lambda rooms: tuple(sorted({*rooms, room})))

    def remove(self, room: str) -> None:
        self._change(lambda rooms: tuple(one for one in rooms if one != room))

    def _change(self, change: Callable[[tuple[str, ...]], tuple[str, ...]]) -> None:
        network = self._network
        change_config(self._home, lambda old: old.with_rooms(network, change(old.networks[network].rooms)))


class Session:
    """`pushing`: a send goes out before it returns; else somebody else flushes.

    `view` reads, and is what most commands need; `engine` can do everything, and is loaded when it is first asked for.
    """

    def __init__(
        self,
        home: Home,
        config: Config,
        joined: Joined,
        *,
        now: Callable[[], Millis],
        entropy: Entropy,
        environ: Mapping[str, str],
        refreshing: bool,
        pushing: bool,
    ) -> None:
        """Raises: BadRemote."""
        self.home, self.config, self.joined, self.now = home, config, joined, now
        self.pushing = pushing
        self._refreshing = refreshing
        around = Surroundings(now=now, entropy=entropy, environ=environ)
        self._clone, self._followed = clone_of(home, joined, config.agent, around), FollowedRooms(home, joined.id)
        self._looked_at: Millis | None = None
        self.last_report: Any = None

    @functools.cached_property
    def view(self) -> "View":
        from peerline.network.view import View

        return View(self._clone, self._followed)

    @functools.cached_property
    def engine(self) -> "Engine":
        from peerline.network.engine import Engine

        return Engine(self._clone, self._followed)

    @property
    def me(self) -> str:
        return self.config.agent.id

    def refresh(self, meanwhile: Callable[[], object] = lambda: None) -> None:
        """Look at the remote before a read, at most every 10 s; one that is away delays no read for long.

        The look goes on beside the read when it takes longer than this waits. `meanwhile` is done while git asks.
        """
        if not self._refreshing or (self._looked_at is not None and self.now() - self._looked_at < FRESH_MS):
            return
        self._looked_at = self.now()
        looking = threading.Thread(target=self._look, daemon=True)
        looking.start()
        meanwhile()
        looking.join(IMPATIENCE_S if self.view.away() else PATIENCE_S)

    def _look(self) -> None:
        look(self._clone, self._followed.get(), self._take, wait_lock=IMPATIENCE_S)

    def _take(self, there: dict[str, str]) -> None:
        from peerline.network.reports import SyncReport  # here, like the engine: most looks find nothing
        from peerline.network.sync import take

        take(self._clone, self._followed.get(), there, SyncReport(), None)


def clone_of(home: Home, joined: Joined, me: Me, around: Surroundings) -> Clone:
    """What this home keeps of one network.

    Raises: BadRemote
    """
    place = Place(folder=home.network(joined.id), remote=joined.remote, network=joined.id)
    who = Identity(agent=me.id, display_name=me.display_name, human=me.human, timezone=me.timezone, tool=me.tool)
    return Clone(place, who, around)
