"""Where a hub is: a URL, or its Unix socket."""

from dataclasses import dataclass
from urllib.parse import urlsplit

from peerline.core.errors import Invalid


@dataclass(frozen=True, slots=True, kw_only=True)
class Address:
    """`host` and `port` go into the Host line; with `socket_path` set the connection goes there instead."""

    host: str = "localhost"
    port: int = 80
    tls: bool = False
    prefix: str = ""
    socket_path: str | None = None

    @property
    def authority(self) -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return host if self.port == (443 if self.tls else 80) else f"{host}:{self.port}"

    def __str__(self) -> str:
        if self.socket_path is not None:
            return f"unix:{self.socket_path}"
        return f"{'https' if self.tls else 'http'}://{self.authority}{self.prefix}"


def address(url: str) -> Address:
    """Read `http://…`, `https://…`, or `unix:/path` (also `unix:///path`).

    Raises:
        Invalid: anything else, or a URL with credentials, a query or a fragment; the text never repeats credentials.
    """
    if url.startswith("unix:"):
        path = url.removeprefix("unix:")
        path = path.removeprefix("//") if path.startswith("///") else path
        if not path.startswith("/") or "\0" in path:
            raise Invalid("a Unix socket address is unix: and an absolute path")
        return Address(socket_path=path)
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:
        raise Invalid("the hub's address is no URL") from None
    if parts.scheme not in ("http", "https") or not parts.hostname:
        raise Invalid("the hub's address must start with http://, https:// or unix:")
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        raise Invalid("the hub's address may not hold credentials, a query or a fragment")
    if any(c <= " " or c == "\x7f" for c in url):
        raise Invalid("the hub's address holds a space or a control character")
    tls = parts.scheme == "https"
    default = 443 if tls else 80
    return Address(host=parts.hostname, port=default if port is None else port, tls=tls, prefix=parts.path.rstrip("/"))
