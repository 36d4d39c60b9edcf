"""Connections that misbehave: silent, trickling, never reading. One thread drives thousands of them."""

import selectors
import socket
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field


@dataclass(slots=True, eq=False)
class Misbehaving:
    """Writes `head` at once, then one byte of `rest` each `every_s`; `closed_after_s` once the hub has ended it."""

    kind: str
    head: bytes
    rest: bytes = b""
    every_s: float = 0.2
    opened: float = 0.0
    closed_after_s: float | None = None
    got: bytes = b""
    _written: int = field(default=0, init=False)

    def due(self, now: float) -> bytes:
        wanted = min(len(self.rest), int((now - self.opened) / self.every_s))
        piece, self._written = self.rest[self._written : wanted], max(wanted, self._written)
        return piece


@contextmanager
def opened(port: int, peers: list[Misbehaving]) -> Iterator[Callable[[float], None]]:
    """All of `peers` connected; call with seconds to drive them until all are closed or the time is over."""
    selector = selectors.DefaultSelector()
    sockets: dict[Misbehaving, socket.socket] = {}
    try:
        for peer in peers:
            sock = socket.create_connection(("127.0.0.1", port), timeout=10)
            sockets[peer] = sock
            peer.opened = time.monotonic()
            if peer.head:
                sock.sendall(peer.head)
            sock.setblocking(False)
            selector.register(sock, selectors.EVENT_READ, peer)
        yield lambda seconds: _drive(selector, sockets, seconds)
    finally:
        selector.close()
        for sock in sockets.values():
            sock.close()


def _drive(selector: selectors.BaseSelector, sockets: Mapping[Misbehaving, socket.socket], seconds: float) -> None:
    end = time.monotonic() + seconds
    left = {peer for peer in sockets if peer.closed_after_s is None}
    while left and (now := time.monotonic()) < end:
        for key, _ in selector.select(timeout=0.1):
            peer = key.data
            try:
                piece = sockets[peer].recv(65_536)
            except OSError:
                piece = b""
            peer.got += piece
            if not piece:
                peer.closed_after_s = time.monotonic() - peer.opened
                selector.unregister(sockets[peer])
                left.discard(peer)
        for peer in left:
            if piece := peer.due(now):
                try:
                    sockets[peer].send(piece)
                except OSError:
                    pass  # the next read says that it is closed
