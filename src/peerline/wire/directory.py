"""The gateway's directory on the wire: who can be reached in which room, and what is known of them."""

from collections.abc import Mapping
from typing import Any, Final

from peerline.core import limits
from peerline.core.directory import ENTRIES, PRESENCE, Remote
from peerline.core.errors import Invalid
from peerline.core.text import utf16_length
from peerline.wire.fields import Choice, Field, Opaque, Text
from peerline.wire.instants import instant, millis

DIRECTORY: Final[tuple[Field, ...]] = (Opaque("agents", {"type": "array", "maxItems": ENTRIES}),)
_ENTRY: Final[tuple[Field, ...]] = (
    Text("name", limits.TARGET_WITH_ROOM, required=True),
    Text("agent", limits.NAME, required=True),
    Text("room", limits.NAME, required=True),
    Text("network", limits.NAME, required=True),
    Choice("presence", PRESENCE, None, f"presence must be one of {', '.join(PRESENCE)}"),
    Text("lastSeenAt", limits.NAME),
)
_DELAY: Final = "usualDelayMs"
_MEMBERS: Final = frozenset((*(field.name for field in _ENTRY), _DELAY))


def directory(body: Mapping[str, Any]) -> list[Remote]:
    """Raises: Invalid."""
    listed = body.get("agents")
    if not isinstance(listed, list) or len(listed) > ENTRIES:
        raise Invalid(f"agents must be an array of at most {ENTRIES} entries")
    return [_entry(each) for each in listed]


def _entry(given: Any) -> Remote:
    if not isinstance(given, dict) or not _MEMBERS.issuperset(given):
        raise Invalid("an entry of agents has a member that is not known")
    values = {field.name: field.read(given) for field in _ENTRY}
    try:
        seen = millis(values["lastSeenAt"]) if values["lastSeenAt"] else None
    except ValueError:
        raise Invalid("lastSeenAt must be a moment") from None
    delay = given.get(_DELAY)
    if delay is not None and (type(delay) is not int or delay < 0):
        raise Invalid("usualDelayMs must be a whole number")
    address = values["name"]
    if "@" not in address or utf16_length(address) > limits.TARGET_WITH_ROOM:
        raise Invalid("name must be an address: <agent>@<room>")
    return Remote(address, values["agent"], values["room"], values["network"], values["presence"], seen, delay)


def known(remote: Remote, *, elsewhere: bool = False) -> dict[str, Any]:
    """What is known of who is asked, for receipts and lists. A delay is that of one room, not of another."""
    out: dict[str, Any] = {"presence": remote.presence}
    if remote.last_seen_at is not None:
        out["lastSeenAt"] = instant(remote.last_seen_at)
    if remote.usual_delay_ms is not None and not elsewhere:
        out["usualDelayMs"] = remote.usual_delay_ms
    return out


def published(remote: Remote) -> dict[str, Any]:
    """An entry as the gateway sends it."""
    where = {"name": remote.address, "agent": remote.agent, "room": remote.room, "network": remote.network}
    return where | known(remote)


def listed(remote: Remote, project: str) -> dict[str, Any]:
    """Beside the records of the hub's own agents: it has no id here, and is never online."""
    where = {"id": remote.address, "name": remote.address, "project": project, "room": remote.room}
    return where | {"network": remote.network, "remote": True, "online": False} | known(remote)
