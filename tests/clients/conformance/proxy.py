"""Between the suite, which can show no token, and a hub that wants one: adds header lines to each request."""

import socket
import threading
from typing import Self

from tests.hub_process import PATIENCE_S

CHUNK = 65_536


class Proxy:
    """Listens on loopback; nothing but the added lines differs from what the suite sent, Host and Origin included."""

    def __init__(self, upstream: tuple[str, int], added: dict[str, str]) -> None:
        self._upstream = upstream
        self._added = "".join(f"{name}: {value}\r\n" for name, value in added.items()).encode()
        self._listener = socket.create_server(("127.0.0.1", 0))
        self.port = self._listener.getsockname()[1]
        threading.Thread(target=self._accept, daemon=True).start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self._listener.close()

    def _accept(self) -> None:
        while True:
            try:
                client, _ = self._listener.accept()
            except OSError:
                return
            hub = socket.create_connection(self._upstream, timeout=PATIENCE_S)
            for work in (lambda c=client, h=hub: self._requests(c, h), lambda c=client, h=hub: _copy(h, c)):
                threading.Thread(target=work, daemon=True).start()

    def _requests(self, client: socket.socket, hub: socket.socket) -> None:
        incoming = client.makefile("rb")
        try:
            while first := incoming.readline():
                head, length = first + self._added, 0
                while (line := incoming.readline()).strip():
                    head += line
                    if line.lower().startswith(b"content-length:"):
                        length = int(line.split(b":")[1])
                hub.sendall(head + b"\r\n" + incoming.read(length))
        except OSError:
            pass
        _end(hub)


def _copy(source: socket.socket, target: socket.socket) -> None:
    source.settimeout(None)
    try:
        while data := source.recv(CHUNK):
            target.sendall(data)
    except OSError:
        pass
    _end(target)


def _end(connection: socket.socket) -> None:
    try:
        connection.shutdown(socket.SHUT_WR)
    except OSError:
        pass
