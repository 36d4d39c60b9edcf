"""The gateway tells its person: a line of its log at once, and one notice for all that one pass brought."""

import threading
from collections.abc import Callable, Iterable
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from peerline.core.errors import PeerlineError
from peerline.core.fence import visible
from peerline.gateway.journal import HELD, PERSON, ItemRow
from peerline.network.config import load_config
from peerline.network.home import Home
from peerline.network.notify.notice import Arrival, Reason
from peerline.network.notify.notifier import Notifier
from peerline.network.notify.settings import notify_settings

STANDING: Final = {PERSON: None, HELD: Reason.HELD, "filed": Reason.STRANDED}


class GatewayNotice:
    """Called with an item and why it stands; told by the sinks that `config.yaml` names, in a thread of its own.

    What the daemon told already, or a gateway before, is not told again.
    """

    def __init__(self, home: Home, notifier: Notifier, say: Callable[[str], None]) -> None:
        self._home, self._notifier, self._say = home, notifier, say
        self._lock, self._waiting = threading.Lock(), list[Arrival]()
        self._telling = ThreadPoolExecutor(1, "telling")

    def __call__(self, row: ItemRow, why: str) -> None:
        self._say(
            f"relay-{row.state} id={row.id} room={row.room} from={row.sender} needs={row.needs}"
            f" reason={visible(why, 200)}"
        )
        self.again([row])

    def again(self, rows: Iterable[ItemRow]) -> None:
        """Tell of what stood before this process began: a kill may have come before the notice."""
        with self._lock:
            self._waiting += [_arrival(row) for row in rows]
        self._telling.submit(self._tell)

    def close(self) -> None:
        """What is being told is ended; what waits stays in the journal and is told by the next gateway."""
        self._telling.shutdown(wait=True, cancel_futures=True)

    def _tell(self) -> None:
        with self._lock:
            arrived, self._waiting = self._waiting, []
        if not arrived:
            return
        try:
            config = load_config(self._home)
        except PeerlineError as error:
            self._say(f"relay-degraded notice={error.code}")
            return
        settings = notify_settings(config.rest.get("notify"))
        # An agent may be near, and still none of them takes this.
        for line in self._notifier.tell(arrived, config.agent.id, settings, agent_near=False):
            self._say(f"relay-degraded notice={line}")


def _arrival(row: ItemRow) -> Arrival:
    return Arrival(
        id=row.id,
        room=row.room,
        sender=row.sender,
        needs="human" if row.state == PERSON else row.needs,
        priority="",
        mentions=(),
        standing=STANDING[row.state],
    )
