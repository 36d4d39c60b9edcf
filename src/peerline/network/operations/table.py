"""Every operation by the name it has on the socket (spec/network.md 6.1); the CLI and the MCP tools use the same."""

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import Any, Final

from peerline.core.errors import NotFound
from peerline.network.operations.session import Session

Operation = Callable[[Session, Mapping[str, Any]], Any]


class UnknownMethod(NotFound):
    code = "UNKNOWN_METHOD"


# The module in this folder and the function in it: only the one that is asked for is loaded.
OPERATIONS: Final[Mapping[str, str]] = {
    "agents": "people.agents",
    "announce": "people.announce",
    "answer": "writing.answer",
    "delivery": "writing.delivery",
    "forecastDelivery": "writing.forecast",
    "handshake": "people.handshake",
    "health": "state.health",
    "history": "reading.history",
    "inbox": "inbox.inbox",
    "inboxDrain": "inbox.drain",
    "lastReport": "state.last_report",
    "mentions": "reading.mentions",
    "message": "reading.message",
    "networks": "state.networks",
    "outbox": "state.outbox",
    "policy": "state.policy",
    "presence": "people.presence",
    "profileGet": "people.profile",
    "profileUpdate": "people.profile_update",
    "read": "reading.read",
    "receipts": "reading.receipts",
    "refresh": "state.refresh",
    "roomCreate": "rooms.create",
    "roomJoin": "rooms.join",
    "roomLeave": "rooms.leave",
    "roomShow": "rooms.show",
    "rooms": "rooms.rooms",
    "search": "reading.search",
    "send": "writing.send",
    "status": "state.status",
    "surroundings": "state.surroundings",
    "sync": "state.sync",
    "trace": "reading.trace",
}

# What begins with a look at the remote, where no daemon looks: whoever reads wants what is new.
LOOKING: Final = frozenset(
    ("agents", "history", "inbox", "presence", "profileGet", "read", "receipts", "refresh", "roomShow", "rooms",
     "search", "status", "trace")
)  # fmt: skip

# Those that change something at the remote, or fetch from it: the daemon runs them beside the quick ones.
SLOW: Final = frozenset(
    ("announce", "handshake", "mentions", "profileUpdate", "roomCreate", "roomJoin", "roomLeave", "sync")
)


def operation(method: str) -> Operation:
    """The operation of that name.

    Raises:
        UnknownMethod
    """
    if method not in OPERATIONS:
        raise UnknownMethod(f"there is no operation {method[:40]!r}")
    module, _, function = OPERATIONS[method].partition(".")
    found: Operation = getattr(import_module(f"peerline.network.operations.{module}"), function)
    return found
