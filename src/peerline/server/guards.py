"""Who may speak to the hub at all: Host and Origin, before any proof (decision 16)."""

from collections.abc import Iterable

from peerline.core.errors import InvalidRequest, Misdirected, OriginNotAllowed
from peerline.server.exchange import Request


class Guard:
    """A web page that a browser shows must never reach the hub, by whatever name it found it."""

    def __init__(self, bound: str, allowed: Iterable[str] = ()) -> None:
        """`bound` is the address listened on; `allowed` further Host values, with their port or for any port."""
        self._names = (
            {bound.lower(), "localhost", "127.0.0.1", "[::1]"} if _loopback(bound) else {bound.lower(), "localhost"}
        )
        if ":" in bound:
            self._names.add(f"[{bound.lower()}]")
        self._any_address = bound in ("0.0.0.0", "::")
        self._allowed = {host.lower() for host in allowed}
        self._hosts: frozenset[str] = frozenset()

    def bind(self, port: int) -> None:
        """The port is known once the socket is bound."""
        self._hosts = frozenset({f"{name}:{port}" for name in self._names} | self._allowed)
        if port == 80:
            self._hosts |= self._names

    def check(self, request: Request) -> None:
        """Raises: InvalidRequest, Misdirected, OriginNotAllowed."""
        headers = request.headers
        if not request.peer.unix:
            host = headers.get("host")
            if host is None:
                raise InvalidRequest("exactly one Host header is needed")
            host = host.lower()
            if host not in self._hosts and host.rpartition(":")[0] not in self._allowed:
                if "," in host:
                    raise InvalidRequest("exactly one Host header is needed")
                raise Misdirected(
                    "this hub does not answer for that Host", nextAction="use_the_bound_address_or_KXM_ALLOWED_HOSTS"
                )
        origin = headers.get("origin")
        if origin is not None and origin.lower().removeprefix("http://") not in self._hosts:
            raise OriginNotAllowed("requests from other origins are refused", nextAction="call_without_origin")


def _loopback(address: str) -> bool:
    return address in ("localhost", "::1") or address.startswith("127.")
