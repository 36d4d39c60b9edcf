"""Who may speak to the hub at all: Host and Origin, before any proof (decision 16)."""

from collections.abc import Iterable
from ipaddress import ip_address

from peerline.core.errors import InvalidRequest, Misdirected, OriginNotAllowed
from peerline.server.exchange import Request


class Guard:
    """A web page that a browser shows must never reach the hub, by whatever name it found it."""

    def __init__(self, bound: str, allowed: Iterable[str] = ()) -> None:
        """`bound` is the address listened on; `allowed` further Host values, with their port or for any port."""
        self._names = {bound.lower(), "localhost"}
        if bound == "localhost":
            self._names |= {"127.0.0.1", "[::1]"}
        if ":" in bound:
            self._names.add(f"[{bound.lower()}]")
        self._any_address = bound in ("0.0.0.0", "::")
        self._allowed = {host.lower() for host in allowed}
        self._hosts: frozenset[str] = frozenset()
        self._port = 0

    def bind(self, port: int) -> None:
        """The port is known once the socket is bound."""
        self._port = port
        self._hosts = frozenset({f"{name}:{port}" for name in self._names} | self._allowed)
        if port == 80:
            self._hosts |= self._names

    @property
    def place(self) -> str:
        """A host of ours with the port, for who came by the socket."""
        return f"localhost:{self._port}"

    def check(self, request: Request) -> None:
        """Raises: InvalidRequest, Misdirected, OriginNotAllowed."""
        headers = request.headers
        if not request.peer.unix:
            host = headers.get("host")
            if host is None:
                raise InvalidRequest("exactly one Host header is needed")
            if "," in host:
                raise InvalidRequest("exactly one Host header is needed")
            if not self._ours(host.lower()):
                raise Misdirected(
                    "this hub does not answer for that Host", nextAction="use_the_bound_address_or_KXM_ALLOWED_HOSTS"
                )
        origin = headers.get("origin")
        if origin is not None and not self._ours(origin.lower().removeprefix("http://")):
            raise OriginNotAllowed("requests from other origins are refused", nextAction="call_without_origin")

    def _ours(self, host: str) -> bool:
        if host in self._hosts or host.rpartition(":")[0] in self._allowed:
            return True
        # Bound to every address: an address is as good as a name, since no foreign DNS can have led to it.
        return self._any_address and _literal(host, self._port)


def _literal(host: str, port: int) -> bool:
    """Whether `host` is an IP address with our port."""
    name, _, given = host.rpartition(":")
    try:
        ip_address(name.strip("[]"))
    except ValueError:
        return False
    return given == str(port)
