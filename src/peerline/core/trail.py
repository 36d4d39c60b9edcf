"""What was observed of a message, by whom and when; and, in one line, why it is not further (decision 2)."""

from enum import StrEnum
from typing import NamedTuple

from peerline.core.agent import Presence
from peerline.core.ids import Millis
from peerline.core.message import Message, Status


class Observed(StrEnum):
    STORED = "stored"
    PUSHED = "pushed"  # written to an open stream; not yet taken
    ACKNOWLEDGED = "acknowledged"
    READ = "read"  # the recipient fetched it
    NOTED = "noted"
    REPLIED = "replied"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    FINAL_PUSHED = "outcome pushed"  # reply, cancellation or expiry written to a stream of that agent
    FINAL_READ = "outcome read"  # fetched by get or await
    RESUMED = "identity resumed"  # an end of this message came back under a new key


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
        own.append(Fact(message.delivered_at, Observed.ACKNOWLEDGED, message.recipient_name))
    if message.replied_at is not None:
        own.append(Fact(message.replied_at, Observed.REPLIED, message.recipient_name))
    if message.cancelled_at is not None:
        own.append(Fact(message.cancelled_at, Observed.CANCELLED, message.sender_name))
    if message.status == Status.EXPIRED:
        own.append(Fact(message.expires_at, Observed.EXPIRED, "hub"))
    return sorted([*own, *recorded], key=lambda fact: (fact.at, _ORDER.get(fact.fact, 0)))


class Standing(NamedTuple):
    """Where a message is, why it is not further, and what its reader can do."""

    why: str
    next: str


def standing(message: Message, presence: Presence, streams: int, recorded: list[Fact]) -> Standing:
    """`presence` and `streams` (open ones) are the recipient's, now."""
    name = message.recipient_name
    seen = {(fact.fact, fact.observer) for fact in recorded}
    if message.status == Status.QUEUED:
        if presence is Presence.OFFLINE:
            return Standing(f"stored; {name} is offline", f"it goes out when {name} connects; do not send it again")
        if streams == 0:
            return Standing(
                f"stored; {name} is {presence} but has no open stream", f"{name} sees it when it reads its inbox"
            )
        if (Observed.PUSHED, message.recipient) in seen:
            return Standing(f"pushed to {name}, which has not taken it yet", "wait: it may be busy with earlier work")
        return Standing(f"stored; being pushed to {name}", "wait a moment")
    if message.status == Status.DELIVERED:
        if presence is Presence.OFFLINE:
            return Standing(
                f"taken by {name}, which went offline before it replied",
                f"wait for {name} to come back, or cancel it and send it again under a new idempotency key",
            )
        return Standing(f"taken by {name}, which has not replied yet", "wait: its turn may still be running")
    if message.status == Status.REPLIED:
        if seen & {(Observed.FINAL_PUSHED, message.sender), (Observed.FINAL_READ, message.sender)}:
            return Standing(f"replied by {name}, and {message.sender_name} has the reply", "nothing to do")
        return Standing(
            f"replied by {name}; {message.sender_name} has not fetched the reply", f"kxm peer get {message.id}"
        )
    if message.status == Status.CANCELLED:
        return Standing(f"cancelled by {message.sender_name}", "work that was already done is not undone")
    return Standing(f"expired before {name} replied", "send it again under a new idempotency key if it still matters")
