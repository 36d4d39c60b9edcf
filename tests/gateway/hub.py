"""A real hub beside the two machines: the gateway's way to it, and a session that is on it."""

import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

from peerline.client.hub import Hub
from peerline.gateway.hub_keys import HubKeys
from peerline.gateway.hub_line import HubLine
from peerline.gateway.hub_sessions import HubSessions
from tests.hub_process import PATIENCE_S, HubProcess
from tests.server.test_contract_hosts import socket_of

PROJECT = "shop"


@dataclass
class Line:
    """The gateway on a hub. `wait` takes until something came that makes `seen` true."""

    line: HubLine
    said: list[str] = field(default_factory=list)
    bell: threading.Event = field(default_factory=threading.Event)

    @property
    def sessions(self) -> HubSessions:
        return HubSessions(self.line, lambda: 0.0)  # no time passes: each look is a look

    def wait(self, seen: Callable[[], bool]) -> None:
        end = time.monotonic() + PATIENCE_S
        while not seen():
            assert self.bell.wait(max(0.0, end - time.monotonic())), "nothing came"
            self.bell.clear()


def joined(hub: HubProcess, folder: Path) -> Line:
    """The gateway comes to the hub; whoever has it stops its `line`."""
    folder.mkdir(exist_ok=True)
    path = socket_of(hub)
    bell, said = threading.Event(), list[str]()
    keys = HubKeys(folder / "hub-keys.json")
    line = HubLine(f"unix:{path}", keys, here=Path(path).exists, ring=bell.set, say=said.append)
    line.start()
    return Line(line, said, bell)


@contextmanager
def gateway_on(hub: HubProcess, folder: Path) -> Iterator[Line]:
    found = joined(hub, folder)
    try:
        yield found
    finally:
        found.line.stop()


def session(hub: HubProcess, name: str = "backend-2e", project: str = PROJECT) -> Hub:
    return Hub(hub.url, project=project, name=name, token=hub.admin)
