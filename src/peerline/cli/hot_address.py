"""A hub's URL, taken apart without `urllib`, which is 10 ms."""

from __future__ import annotations


class Address:
    """A hub's `url`, taken apart; `unix` is the path of its Unix socket if that may be used."""

    def __init__(self, url: str, unix: str | None = None) -> None:
        scheme, _, rest = url.strip().partition("://")
        self.tls = scheme.lower() == "https"
        authority, slash, path = rest.partition("/")
        host, port = _authority(authority, 443 if self.tls else 80)
        if scheme.lower() not in ("http", "https") or not host or any(c in rest for c in "@?#\\") or not _plain(rest):
            raise ValueError("the hub's URL must be http(s)://host[:port] without credentials, query or fragment")
        self.url = f"{scheme.lower()}://{authority}{slash}{path}".rstrip("/")
        self.host, self.port, self.authority = host, port, authority
        self.prefix = (slash + path).rstrip("/")
        self.unix = unix

    @property
    def loopback(self) -> bool:
        host = self.host.lower()
        return host in ("localhost", "::1") or host.endswith(".localhost") or _four_numbers_from_127(host)


def _authority(authority: str, default: int) -> tuple[str, int]:
    if authority.startswith("["):
        host, _, rest = authority[1:].partition("]")
        port = rest.removeprefix(":")
    else:
        host, _, port = authority.partition(":")
    if not port:
        return host, default
    if not (port.isascii() and port.isdigit() and 0 < int(port) < 65_536):
        return "", 0
    return host, int(port)


def _plain(text: str) -> bool:
    return all("!" <= c <= "~" for c in text)


def _four_numbers_from_127(host: str) -> bool:
    parts = host.split(".")
    return len(parts) == 4 and parts[0] == "127" and all(part.isdigit() for part in parts)


def escaped(part: str) -> str:
    """`part` as one segment of a path or a query's value."""
    safe = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~"
    text = "".join(c if c in safe else "".join(f"%{b:02X}" for b in c.encode("utf-8", "replace")) for c in part)
    return text.replace(".", "%2E") if set(text) == {"."} else text
