"""The daemon from outside: one connection, one request at a time."""

import json
import socket
from pathlib import Path
from typing import Any, Final

from peerline.network.daemon.protocol import LINE_AT_MOST, Refusal, request_line

CONNECT_S: Final = 1.5
PING_S: Final = 5.0
REQUEST_S: Final = 120.0


class Unreachable(Exception):
    """No daemon answers on the socket."""


class DaemonLink:
    """A connection that stays open until `close`."""

    def __init__(self, path: Path) -> None:
        """Raises: Unreachable."""
        self._socket = socket.socket(socket.AF_UNIX, socket.SOCK_STREAM | socket.SOCK_CLOEXEC)
        self._socket.settimeout(CONNECT_S)
        try:
            self._socket.connect(str(path))
        except OSError as error:
            self._socket.close()
            raise Unreachable(f"no daemon on {path}: {error.strerror}") from None
        self._rest = b""
        self._count = 0

    def call(self, method: str, params: dict[str, Any], network: str | None = None, timeout: float = REQUEST_S) -> Any:
        """One request and its result.

        Raises:
            Refusal: the daemon's own or the operation's.
            Unreachable: it went away, or did not answer in time.
        """
        self._count += 1
        self._send(request_line(self._count, method, params, network), timeout)
        answer = self.next_line()
        if answer.get("ok"):
            return answer.get("result")
        error = answer.get("error") or {}
        extras = {name: value for name, value in error.items() if name not in ("message", "code")}
        raise Refusal(str(error.get("message")), str(error.get("code") or "FAILED"), **extras)

    def subscribe(self, params: dict[str, Any], network: str | None) -> Any:
        """Open a subscription; its events then come by `next_line`."""
        return self.call("subscribe", params, network)

    def wait(self, seconds: float | None) -> None:
        """How long `next_line` waits; None: as long as it takes."""
        self._socket.settimeout(seconds)

    def next_line(self) -> dict[str, Any]:
        """Raises: Unreachable; TimeoutError: nothing came in the time that `wait` said."""
        while b"\n" not in self._rest:
            if len(self._rest) > LINE_AT_MOST:
                raise Unreachable("the daemon sent a line without an end")
            try:
                more = self._socket.recv(65_536)
            except TimeoutError:
                raise
            except OSError as error:
                raise Unreachable(f"the daemon went away: {error.strerror}") from None
            if not more:
                raise Unreachable("the daemon went away")
            self._rest += more
        line, _, self._rest = self._rest.partition(b"\n")
        found = json.loads(line)
        return found if isinstance(found, dict) else {}

    def close(self) -> None:
        self._socket.close()

    def _send(self, line: bytes, timeout: float) -> None:
        try:
            self._socket.settimeout(timeout)
            self._socket.sendall(line)
        except OSError as error:
            raise Unreachable(f"the daemon went away: {error.strerror}") from None
