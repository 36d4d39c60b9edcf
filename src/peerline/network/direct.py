"""The operations in this process: what a command that finds a daemon never loads."""

from collections.abc import Callable, Mapping
from typing import Any

from peerline.core.ids import Entropy, Millis
from peerline.network.config import load_config
from peerline.network.home import Home
from peerline.network.operations.session import Session
from peerline.network.operations.table import LOOKING, operation


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
        if method not in LOOKING:
            return operation(method)(self.session(network), params)
        session = self.session(network)
        session.refresh(meanwhile=lambda: operation(method))
        return operation(method)(session, params)

    def answer_as_human(self, message_id: str, body: str, network: str | None, unsafe_reason: str | None = None) -> Any:
        """A person's answer: only from the process at whose terminal the person is."""
        from peerline.network.operations.writing import answer  # here: it loads what only writing needs

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
