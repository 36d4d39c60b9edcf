"""What was observed of a message, by whom and when (decision 2); `standing` tells why it is not further."""

from enum import StrEnum
from typing import NamedTuple

from peerline.core.agent import GATEWAY
from peerline.core.ids import AgentId, Millis
from peerline.core.message import Message, Status


class Observed(StrEnum):
    STORED = "stored"
    HELD = "held"  # by the brake on a pair of agents
    CONTINUED = "continued"  # a person let the pair go on
    PUSHED = "pushed"  # written to an open stream; not yet taken
    ACKNOWLEDGED = "acknowledged"
    NOT_ANNOUNCED = "not announced"  # an adapter could not tell its model that it is there
    ANNOUNCED = "announced"  # an adapter told its model that it is there
    IN_TURN = "in turn"  # a turn of the model began with it
    READ = "read"  # the recipient fetched it; reported by an adapter: its model read the text
    NOTED = "noted"
    REPLIED = "replied"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    FINAL_PUSHED = "outcome pushed"  # reply, cancellation or expiry written to a stream of that agent
    FINAL_READ = "outcome read"  # fetched by get or await
    REFUSED = "refused"  # by this machine's gateway, with the code; the reply says more
    WAITS = "waits"  # at this machine's gateway, which can't bring it into the room yet
    TAKEN_THERE = "taken there"  # the far machine's gateway has it; these three as that one says in the room
    HELD_THERE = "held there"
    IN_TURN_THERE = "in turn there"
    RESUMED = "identity resumed"  # an end of this message came back under a new key


# What the adapter at either end reports, nearest to the model last; at the sender's end it is about the outcome.
IN_GIT = "the room's remote has it"
UNSAID = "it did not say why"
REPORTED = (Observed.NOT_ANNOUNCED, Observed.ANNOUNCED, Observed.IN_TURN, Observed.READ)
# What a gateway reports.
FAR = (Observed.REFUSED, Observed.WAITS, Observed.TAKEN_THERE, Observed.HELD_THERE, Observed.IN_TURN_THERE)
_ORDER = {str(fact): number for number, fact in enumerate(Observed)}  # within one millisecond


class Fact(NamedTuple):
    at: Millis
    fact: str
    observer: str
    detail: str | None = None


def facts(message: Message, recorded: list[Fact]) -> list[Fact]:
    """The whole trail in order: what the message itself says, and what was recorded beside it."""
    own = [Fact(message.sent_at, Observed.STORED, "hub")]
    if message.delivered_at is not None:
        took = (GATEWAY, IN_GIT) if message.to_room else (message.recipient_name, None)
        own.append(Fact(message.delivered_at, Observed.ACKNOWLEDGED, *took))
    if message.replied_at is not None:
        refused = message.to_room and any(fact.fact == Observed.REFUSED for fact in recorded)
        own.append(Fact(message.replied_at, Observed.REPLIED, GATEWAY if refused else message.recipient_name))
    if message.cancelled_at is not None:
        own.append(Fact(message.cancelled_at, Observed.CANCELLED, message.sender_name))
    if message.status == Status.EXPIRED:
        own.append(Fact(message.expires_at, Observed.EXPIRED, "hub"))
    return sorted([*own, *recorded], key=lambda fact: (fact.at, _ORDER.get(fact.fact, 0)))


def reported(adapter: str, reason: str | None = None) -> str:
    """The detail of a fact that an adapter reports."""
    return f"by {adapter}" if reason is None else f"by {adapter}: {reason}"


class Reach(NamedTuple):
    """How near a message, or its outcome, came to the model at one end: the furthest fact that an adapter reported.

    `reason`: why it came no further, if the adapter said so.
    """

    fact: Observed
    adapter: str
    reason: str


def reach(recorded: list[Fact], end: AgentId) -> Reach | None:
    found: Reach | None = None
    for fact in recorded:
        by, _, reason = (fact.detail or "").partition(": ")
        if fact.observer == end and fact.fact in REPORTED and by.startswith("by "):
            kind = Observed(fact.fact)
            stands = (
                kind is Observed.IN_TURN and reason != ""
            )  # whatever came before, the turn does not go on by itself
            if found is None or stands or REPORTED.index(kind) >= REPORTED.index(found.fact):
                found = Reach(kind, by.removeprefix("by "), reason)
    return found
