"""`komnet mcp`: the network's tools for one agent session. Started by its client, not by hand."""

import os
from collections.abc import Mapping
from typing import Any

from peerline.cli.hot_output import write
from peerline.cli.komnet.desk import Desk
from peerline.core.errors import PeerlineError
from peerline.mcp_stdio.network_server import NetworkServer
from peerline.network.calls import Calls
from peerline.network.config import load_config
from peerline.network.daemon.client import DaemonLink, Unreachable


def serve(desk: Desk) -> int:
    """Serve until the client leaves.

    Raises:
        NotConfigured, BrokenConfig
    """
    own = load_config(desk.home).agent.id
    # The conversation is the only thing on stdout: whatever else prints there goes to stderr.
    stdout = os.dup(1)
    os.dup2(2, 1)
    network = desk.call.text("--network")

    def calls() -> Calls:
        return _InNetwork(desk.calls(), network) if network else desk.calls()

    session = _attached(desk)
    try:
        NetworkServer(
            calls, own, stdin=0, stdout=stdout, entropy=os.urandom, say=lambda line: write(2, line + "\n")
        ).run()
    finally:
        if session is not None:
            session.close()
    return 0


class _InNetwork:
    """Calls that name no network go to the one that `--network` named."""

    def __init__(self, calls: Calls, network: str) -> None:
        self._calls, self._network, self.mode = calls, network, calls.mode

    def call(self, method: str, params: Mapping[str, Any], network: str | None = None) -> Any:
        return self._calls.call(method, params, network or self._network)


def _attached(desk: Desk) -> DaemonLink | None:
    """Tell the daemon that a session is there, for as long as the link lives; None where no daemon runs."""
    if desk.call.flag("--direct"):
        return None
    try:
        link = DaemonLink(desk.home.socket)
        link.call("sessionOpen", {"session": desk.env.get("KOMNET_SESSION", "")})
    except (Unreachable, PeerlineError, TimeoutError):
        return None
    return link


RUN = {"mcp": serve}
