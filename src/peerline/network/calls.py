"""One way to every operation: in this process, or through the daemon of the same agent."""

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from peerline.core.ids import Entropy, Millis
from peerline.network.config import load_config
from peerline.network.daemon.client import PING_S, DaemonLink, Unreachable
from peerline.network.daemon.protocol import Refusal
from peerline.network.home import Home
from peerline.network.operations.session import Session
from peerline.network.operations.table import OPERATIONS, UnknownMethod
from peerline.network.operations.writing import answer


class Calls(Protocol):
    """`mode` is `direct` or `daemon`."""

    mode: str

    def call(self, method: str, params: Mapping[str, Any], network: str | None = None) -> Any:
        """The JSON result of an operation of the table.

        Raises:
            PeerlineError
        """


class DirectCalls:
    """The operations in this process. The config is read at each call: what another process joined is there."""

    mode = "direct"

    def __init__(
        self,
        home: Home,
        *,
        now: Callable[[], Millis],
        entropy: Entropy,
        environ: Mapping[str, str],
        refreshing: bool = True,
        pushing: bool = True,
    ) -> None:
        """`refreshing`: a read looks at the remote first; `pushing`: a send goes out before it returns.

        Raises:
            NotConfigured, BrokenConfig
        """
        load_config(home)
        self._home, self._now, self._entropy, self._environ = home, now, entropy, environ
        self._refreshing, self._pushing = refreshing, pushing
        self._sessions: dict[str, Session] = {}

    def call(self, method: str, params: Mapping[str, Any], network: str | None = None) -> Any:
        operation = OPERATIONS.get(method)
        if operation is None:
            raise UnknownMethod(f"there is no operation {method[:40]!r}")
        return operation(self.session(network), params)

    def answer_as_human(self, message_id: str, body: str, network: str | None, unsafe_reason: str | None = None) -> Any:
        """A person's answer: only from the process at whose terminal the person is."""
        params = {"messageId": message_id, "body": body, **({"forceUnsafe": unsafe_reason} if unsafe_reason else {})}
        return answer(self.session(network), params, by_human=True)

    def session(self, network: str | None) -> Session:
        """The operations' surroundings in one network, kept for the next call."""
        config = load_config(self._home)
        joined = config.network(network)
        known = self._sessions.get(joined.id)
        if known is None or known.joined.remote != joined.remote or known.config.agent != config.agent:
            known = Session(
                self._home,
                config,
                joined,
                now=self._now,
                entropy=self._entropy,
                environ=self._environ,
                refreshing=self._refreshing,
                pushing=self._pushing,
            )
            self._sessions[joined.id] = known
        known.config, known.joined = config, joined
        return known


class DaemonCalls:
    """The operations of the daemon that serves this home."""

    mode = "daemon"

    def __init__(self, link: DaemonLink) -> None:
        self._link = link

    def call(self, method: str, params: Mapping[str, Any], network: str | None = None) -> Any:
        try:
            return self._link.call(method, dict(params), network)
        except Unreachable as error:
            raise Refusal(
                f"{error}; what was sent is either queued or not written at all: komnet read shows it", "DAEMON_GONE"
            ) from None


def connect(
    home: Home, *, now: Callable[[], Millis], entropy: Entropy, environ: Mapping[str, str]
) -> DirectCalls | DaemonCalls:
    """The daemon where one runs for this agent, else this process.

    Raises:
        NotConfigured, BrokenConfig
    """
    config = load_config(home)
    try:
        link = DaemonLink(home.socket)
        served = link.call("ping", {}, timeout=PING_S)
        if served.get("agent") == config.agent.id:
            return DaemonCalls(link)
        link.close()
    except (Unreachable, Refusal, TimeoutError):
        pass
    return DirectCalls(home, now=now, entropy=entropy, environ=environ)
