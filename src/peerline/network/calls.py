"""One way to every operation: in this process, or through the daemon of the same agent."""

from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, Protocol

from peerline.core.ids import Entropy, Millis
from peerline.network.config import load_config
from peerline.network.home import Home

if TYPE_CHECKING:
    from peerline.network.daemon.client import DaemonLink
    from peerline.network.direct import DirectCalls


class Calls(Protocol):
    """`mode` is `direct` or `daemon`."""

    mode: str

    def call(self, method: str, params: Mapping[str, Any], network: str | None = None) -> Any:
        """The JSON result of an operation of the table.

        Raises:
            PeerlineError
        """


class DaemonCalls:
    """The operations of the daemon that serves this home."""

    mode = "daemon"

    def __init__(self, link: "DaemonLink") -> None:
        self._link = link

    def call(self, method: str, params: Mapping[str, Any], network: str | None = None) -> Any:
        from peerline.network.daemon.client import Unreachable
        from peerline.network.daemon.protocol import Refusal

        try:
            return self._link.call(method, dict(params), network)
        except Unreachable as error:
            raise Refusal(
                f"{error}; what was sent is either queued or not written at all: komnet read shows it", "DAEMON_GONE"
            ) from None


def connect(
    home: Home, *, now: Callable[[], Millis], entropy: Entropy, environ: Mapping[str, str]
) -> "DirectCalls | DaemonCalls":
    """The daemon where one runs for this agent, else this process.

    Raises:
        NotConfigured, BrokenConfig
    """
    config = load_config(home)
    if home.socket.exists() and (served := _served(home, config.agent.id)) is not None:
        return served
    from peerline.network.direct import DirectCalls  # here: a command that a daemon answers needs none of it

    return DirectCalls(home, now=now, entropy=entropy, environ=environ)


def _served(home: Home, agent: str) -> DaemonCalls | None:
    """The daemon on this home's socket, if one answers and acts for the agent."""
    from peerline.network.daemon.client import PING_S, DaemonLink, Unreachable  # here: most have no daemon
    from peerline.network.daemon.protocol import Refusal

    try:
        link = DaemonLink(home.socket)
        if link.call("ping", {}, timeout=PING_S).get("agent") == agent:
            return DaemonCalls(link)
        link.close()
    except (Unreachable, Refusal, TimeoutError):
        pass
    return None
