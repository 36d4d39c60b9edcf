"""`config.yaml`: who this agent is, and which networks and rooms it follows (spec/network.md 5).

It is read anew at each use and changed only under a lock, so that a room joined by one process is there for the others.
"""

import fcntl
import os
from collections.abc import Callable, Mapping
from functools import lru_cache
from typing import Any, Final, NamedTuple

from peerline.core.errors import Conflict, Invalid, NotFound
from peerline.network.home import Home
from peerline.wire import yaml_core

SIZE_AT_MOST: Final = 256 * 1024


class NotConfigured(NotFound):
    """No agent has been set up in this home yet."""

    code = "NOT_CONFIGURED"


class BrokenConfig(Invalid):
    """The file is there and can't be used; it is never overwritten then."""

    code = "BROKEN_CONFIG"


class UnknownNetwork(NotFound):
    code = "UNKNOWN_NETWORK"


class Me(NamedTuple):
    """The identity: what stands on everything this agent writes, and on its card."""

    id: str
    display_name: str
    human: str
    timezone: str
    tool: str


class Joined(NamedTuple):
    """One network this agent belongs to; `rooms` are those it follows."""

    id: str
    remote: str
    rooms: tuple[str, ...] = ()


class Config(NamedTuple):
    agent: Me
    networks: Mapping[str, Joined] = {}
    default: str | None = None
    rest: Mapping[str, Any] = {}  # what other programs keep here, written back as it was

    def network(self, name: str | None) -> Joined:
        """The named network, else the default one, else the only one.

        Raises:
            UnknownNetwork
        """
        wanted = name or self.default
        if wanted is None and len(self.networks) == 1:
            return next(iter(self.networks.values()))
        if wanted is None:
            have = ", ".join(self.networks) or "none"
            raise UnknownNetwork(
                f"which network? this agent is in: {have}; say --network <id>, or komnet network use <id>"
            )
        if wanted not in self.networks:
            raise UnknownNetwork(
                f"unknown network {wanted}\n  have: {', '.join(self.networks) or 'none'}\n"
                f"  add one with: komnet init --repo <url> --network {wanted}"
            )
        return self.networks[wanted]

    def with_network(self, joined: Joined) -> "Config":
        return self._replace(networks={**self.networks, joined.id: joined}, default=self.default or joined.id)

    def with_rooms(self, network: str, rooms: tuple[str, ...]) -> "Config":
        return self.with_network(self.networks[network]._replace(rooms=rooms))


def default_identity(agent: str | None, user: str, timezone: str) -> Me:
    """Who a first `init` sets up: the user's own name, with the tool `cli`, unless an id was given."""
    return Me(id=agent or f"{user}-cli", display_name=f"{user}'s cli", human=user, timezone=timezone, tool="cli")


def load_config(home: Home) -> Config:
    """Read the file.

    Raises:
        NotConfigured: it is not there.
        BrokenConfig: it is no YAML, or lacks what it must have.
    """
    try:
        with home.config.open("rb") as file:
            data = file.read(SIZE_AT_MOST + 1)
    except FileNotFoundError:
        raise NotConfigured(
            f"komnet is not configured ({home.config} not found). Run: komnet init --repo <url>"
        ) from None
    try:
        if len(data) > SIZE_AT_MOST:
            raise ValueError("it is larger than 256 KiB")
        return _understood(data)
    except (ValueError, Invalid) as error:
        raise BrokenConfig(
            f"{home.config} can't be used: {error}; mend or move it, nothing here overwrites it"
        ) from None


@lru_cache(maxsize=2)
def _understood(data: bytes) -> Config:
    return _read(yaml_core.load(data.decode()))


def change_config(home: Home, change: Callable[[Config], Config], first: Me | None = None) -> Config:
    """Read, change and write the file in one step; `first` is the identity where there is no file yet.

    Raises:
        NotConfigured, BrokenConfig, OSError: nothing is changed then.
    """
    home.make()
    lock = os.open(home.folder / "config.lock", os.O_RDWR | os.O_CREAT | os.O_CLOEXEC | os.O_NOFOLLOW, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            old = load_config(home)
        except NotConfigured:
            if first is None:
                raise
            old = Config(agent=first)
        new = change(old)
        if first is not None and old.agent.id != first.id:
            raise Conflict(
                f"this home belongs to {old.agent.id}; a further agent gets its own: "
                f"komnet agent add {first.id} --repo <url>"
            )
        _write(home, new)
        return new
    finally:
        os.close(lock)


def _write(home: Home, config: Config) -> None:
    from peerline.database.files import sync  # here: these load what every reading command would wait for
    from peerline.wire.yaml_writing import dump

    part = home.folder / f".config.yaml.{os.getpid()}"
    file = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_TRUNC | os.O_NOFOLLOW | os.O_CLOEXEC, 0o600)
    with os.fdopen(file, "w", encoding="utf-8") as stream:
        stream.write(dump(_shape(config)))
        stream.flush()
        os.fsync(stream.fileno())
    part.replace(home.config)
    sync(home.folder)


def _shape(config: Config) -> dict[str, Any]:
    me = config.agent
    shape: dict[str, Any] = {
        "v": 1,
        "agent": {
            "id": me.id,
            "displayName": me.display_name,
            "human": {"name": me.human, "timezone": me.timezone},
            "tool": me.tool,
        },
        "networks": {
            n.id: {"id": n.id, "remote": n.remote, "subscriptions": list(n.rooms)} for n in config.networks.values()
        },
    }
    if config.default is not None:
        shape["defaultNetwork"] = config.default
    return {**shape, **config.rest}


def _read(value: object) -> Config:
    top = _mapping(value, "the file")
    agent = _mapping(top.get("agent"), "agent")
    human = _mapping(agent.get("human"), "agent.human")
    networks = {}
    for name, entry in _mapping(top.get("networks") or {}, "networks").items():
        member = _mapping(entry, f"networks.{name}")
        rooms = member.get("subscriptions") or []
        if not isinstance(rooms, list):
            raise ValueError(f"networks.{name}.subscriptions must be a list")
        networks[name] = Joined(
            id=name, remote=_text(member, "remote", f"networks.{name}"), rooms=tuple(str(room) for room in rooms)
        )
    default = top.get("defaultNetwork")
    known = ("v", "agent", "networks", "defaultNetwork")
    return Config(
        agent=Me(
            id=_text(agent, "id", "agent"),
            display_name=str(agent.get("displayName") or agent["id"]),
            human=str(human.get("name") or ""),
            timezone=str(human.get("timezone") or "UTC"),
            tool=str(agent.get("tool") or "cli"),
        ),
        networks=networks,
        default=default if isinstance(default, str) and default in networks else None,
        rest={key: member for key, member in top.items() if key not in known},
    )


def _mapping(value: object, where: str) -> dict[str, Any]:
    if not isinstance(value, dict):
        raise ValueError(f"{where} must be a mapping")
    return value


def _text(mapping: Mapping[str, Any], key: str, where: str) -> str:
    value = mapping.get(key)
    if not isinstance(value, str) or not value:
        raise ValueError(f"{where}.{key} must be a text")
    return value
