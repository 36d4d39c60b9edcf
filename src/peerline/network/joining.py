"""Entering a network: the repository is looked at first, and this machine remembers it only when that went well."""

import shutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass

from peerline.core.errors import Conflict
from peerline.core.identifiers import InvalidIdentifier, agent_id, slug
from peerline.core.ids import Entropy, Millis
from peerline.network.clone import Surroundings
from peerline.network.config import Config, Joined, Me, NotConfigured, change_config, load_config
from peerline.network.engine import Engine
from peerline.network.home import Home
from peerline.network.operations.session import FollowedRooms, clone_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Joining:
    """What `init` did. `first`: the repository was empty and is a network now; `current`: what commands act on."""

    agent: str
    network: str
    remote: str
    first: bool
    rooms: tuple[str, ...]
    current: str


def enter(
    home: Home,
    me: Me,
    *,
    remote: str,
    network: str | None,
    now: Callable[[], Millis],
    entropy: Entropy,
    environ: Mapping[str, str],
) -> Joining:
    """Make `me` a member of the network that `remote` carries; to do it again changes nothing.

    Raises:
        Conflict: the home is another agent's, or the network's name is taken by another remote.
        InvalidIdentifier, BadRemote, RemoteFailed: nothing of it stays on this machine then.
    """
    agent_id(me.id)
    network = network_name(network, remote)
    try:
        config: Config | None = load_config(home)
    except NotConfigured:
        config = None
    if config is not None and config.agent.id != me.id:
        raise Conflict(
            f"this home belongs to {config.agent.id}; a further agent gets its own: "
            f"komnet agent add {me.id} --repo <url>"
        )
    known = config.networks.get(network) if config is not None else None
    if known is not None and known.remote != remote:
        raise Conflict(f"{network} is the name of {known.remote} here; choose another with --network <id>")
    entering, new = known or Joined(id=network, remote=remote), not home.network(network).exists()
    try:
        home.make()
        around = Surroundings(now=now, entropy=entropy, environ=environ)
        engine = Engine(clone_of(home, entering, me, around), FollowedRooms(home, entering.id))
        try:
            first = engine.initialise()
            rooms = tuple(view.room.id for view in engine.rooms())
        finally:
            engine.close()
        changed = change_config(home, lambda old: old if network in old.networks else old.with_network(entering), me)
    except BaseException:
        if new:
            _forget(home, network)
        raise
    return Joining(
        agent=me.id,
        network=network,
        remote=remote,
        first=first,
        rooms=rooms,
        current=changed.network(None).id if changed.default else network,
    )


def _forget(home: Home, network: str) -> None:
    """Take away what was made for a network that was not entered, and folders that held nothing else."""
    folder = home.network(network)
    shutil.rmtree(folder, ignore_errors=True)
    for empty in (folder.parent, home.folder, *((home.folder.parent,) if home.root else ())):
        try:
            empty.rmdir()
        except OSError:
            return


def network_name(given: str | None, remote: str) -> str:
    """The network's id here: the given one, else made of the remote's last part.

    Raises:
        InvalidIdentifier
    """
    if given is not None:
        if slug(given) != given:
            raise InvalidIdentifier(f"{given[:80]!a} is no network id: 1 to 63 characters a-z 0-9 -")
        return given
    last = remote.rstrip("/").replace(":", "/").rpartition("/")[2].removesuffix(".git")
    return slug(last) or "network"


def plain_user(environ: Mapping[str, str]) -> str:
    """The user's name as an agent id may hold it."""
    named = environ.get("USER") or environ.get("LOGNAME") or "user"
    plain = "".join(c if c.isascii() and (c.isalnum() or c in "._-") else "-" for c in named.lower()).strip(".-_")
    return plain[:34] or "user"
