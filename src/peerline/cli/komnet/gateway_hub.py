"""The gateway's way to the sessions on the hub of this machine; where there is none, every answer becomes a file."""

import os
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager

from peerline.cli.hot_address import Address
from peerline.cli.hot_identity import bound_url
from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import socket_path, state_root
from peerline.gateway.hub_keys import HubKeys
from peerline.gateway.hub_line import HubLine
from peerline.gateway.hub_sessions import HubSessions
from peerline.gateway.place import GatewayPlace


@contextmanager
def hub_sessions(
    env: Mapping[str, str], place: GatewayPlace, *, ring: Callable[[], None], say: Callable[[str], None]
) -> Iterator[tuple[HubSessions | None, HubLine | None]]:
    """None: the hub that is set is on another machine, where this gateway can't prove itself."""
    try:
        to = Address(env.get("KXM_SERVER_URL") or bound_url(state_root(env)))
    except ValueError as error:
        raise Failure(str(error), error="hub_url_invalid", exit_code=2) from None
    if not to.loopback or to.tls or not hasattr(os, "getuid"):
        yield None, None
        return
    path = socket_path(env, to.port)
    keys = HubKeys(place.folder / "hub-keys.json")
    line = HubLine(f"unix:{path}", keys, here=lambda: _is_ours(path), ring=ring, say=say)
    line.start()
    try:
        yield HubSessions(line, time.monotonic), line
    finally:
        line.stop()


def _is_ours(path: str) -> bool:
    try:
        return os.lstat(path).st_uid == os.getuid()
    except OSError:
        return False
