"""A participant: a durable identity in a project, and how present it is (spec/hub.md 3.5)."""

from enum import StrEnum
from typing import Final, NamedTuple

from peerline.core.errors import Invalid, NameReserved
from peerline.core.ids import AgentId, Millis
from peerline.core.text import bad_name_character, lower

GATEWAY: Final = "komnet-gateway"  # the agent through which a project reaches the rooms of the network
RESERVED = frozenset({GATEWAY, "human", "system", "admin"})
PERSON_MODEL = "person"
PERSON_PURPOSE = "a person at a terminal"  # what the verbs of `peerline` register with


class Presence(StrEnum):
    ONLINE = "online"
    STALE = "stale"
    OFFLINE = "offline"


class Agent(NamedTuple):
    id: AgentId
    project: str
    name: str
    purpose: str
    model: str | None
    host: str | None
    branch: str | None
    connected_at: Millis
    last_seen_at: Millis

    @property
    def person(self) -> bool:
        """Whether it says that it is a person. A brake asks this, never a permission: anybody may say so."""
        return self.purpose == PERSON_PURPOSE or self.model == PERSON_MODEL

    @property
    def gateway(self) -> bool:
        """Whether it is the project's gateway; nobody else can have the name."""
        return self.name == GATEWAY

    def presence(self, online: bool, now: Millis, lease_ms: int) -> Presence:
        if not online:
            return Presence.OFFLINE
        return Presence.ONLINE if now < self.last_seen_at + lease_ms else Presence.STALE


def check_name(name: str, *, gateway: bool = False) -> str:
    """The name, if an agent may have it; `gateway`: it has shown the token of one.

    Raises:
        Invalid: a character that could fake a line, an address or a direction.
        NameReserved: it would speak for a person or for the software.
    """
    bad = bad_name_character(name)
    if bad is not None:
        raise Invalid(f"name must not contain U+{ord(bad):04X}: no control or format characters, no @, no /")
    if lower(name) in RESERVED and not (gateway and name == GATEWAY):
        raise NameReserved(f"agent name is reserved: {name}", nextAction="choose_another_name")
    return name
