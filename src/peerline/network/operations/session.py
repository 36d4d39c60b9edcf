"""What an operation works with: one network of one agent, and when to look at its remote before answering."""

import functools
import threading
from collections.abc import Callable, Mapping
from typing import Any

from peerline.core.ids import Entropy, Millis
from peerline.network.config import Config, Joined, Me, NotConfigured, change_config, load_config
from peerline.network.engine import Engine
from peerline.network.home import Home
from peerline.network.place import Identity, Place

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
    """`pushing`: a send goes out before it returns; else somebody else flushes."""

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
        self.home, self.config, self.joined, self.now = home, config, joined, now
        self.pushing = pushing
        self._refreshing = refreshing
        self._opening = functools.partial(opened, home, joined, config.agent, now=now, entropy=entropy, environ=environ)
        self._looked_at: Millis | None = None
        self.last_report: Any = None
        self.engine = self._opening()

    @property
    def me(self) -> str:
        return self.config.agent.id

    def refresh(self) -> None:
        """Look at the remote before a read, at most every 10 s; one that is away delays no read for long.

        The look goes on beside the read when it takes longer than this waits.
        """
        if not self._refreshing or (self._looked_at is not None and self.now() - self._looked_at < FRESH_MS):
            return
        self._looked_at = self.now()
        patience = IMPATIENCE_S if self.engine.away() else PATIENCE_S
        look = threading.Thread(target=self._look, daemon=True)
        look.start()
        look.join(patience)

    def _look(self) -> None:
        engine = self._opening()
        try:
            engine.sync(wait_lock=IMPATIENCE_S)
        finally:
            engine.close()


def opened(
    home: Home,
    joined: Joined,
    me: Me,
    *,
    now: Callable[[], Millis],
    entropy: Entropy,
    environ: Mapping[str, str],
) -> Engine:
    """The engine of one network of this home.

    Raises:
        BadRemote
    """
    place = Place(folder=home.network(joined.id), remote=joined.remote, network=joined.id)
    who = Identity(agent=me.id, display_name=me.display_name, human=me.human, timezone=me.timezone, tool=me.tool)
    return Engine(place, who, FollowedRooms(home, joined.id), now=now, entropy=entropy, environ=environ)
