"""What was observed of a message, by whom and when; and, in one line, why it is not further (decision 2)."""

from enum import StrEnum
from typing import NamedTuple

from peerline.core.agent import Presence
from peerline.core.ids import AgentId, Millis
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


def standing(
    message: Message, presence: Presence, streams: int, recorded: list[Fact], reader: AgentId | None = None
) -> Standing:
    """`presence` and `streams` (open ones) are the recipient's, now; the step is the reader's, else the sender's."""
    why, step = _told(message, presence, streams, {(fact.fact, fact.observer) for fact in recorded})
    return Standing(why, _recipients_step(message) if reader == message.recipient else step)


def _told(message: Message, presence: Presence, streams: int, seen: set[tuple[str, str]]) -> tuple[str, str]:
    name, sender = message.recipient_name, message.sender_name
    if message.status == Status.QUEUED:
        if (Observed.READ, message.recipient) in seen:
            away = ", and is offline now" if presence is Presence.OFFLINE else ""
            return f"read by {name}, which has not replied yet{away}", "wait; do not send it again"
        if presence is Presence.OFFLINE:
            return f"stored; {name} is offline", f"it goes out when {name} connects; do not send it again"
        if streams == 0:
            return f"stored; {name} is {presence} but has no open stream", f"{name} sees it when it reads its inbox"
        if (Observed.PUSHED, message.recipient) in seen:
            return f"pushed to {name}, which has not taken it yet", "wait: it may be busy with earlier work"
        return f"stored; being pushed to {name}", "wait a moment"
    if message.status == Status.DELIVERED:
        if presence is Presence.OFFLINE:
            again = "cancel it and send it again under a new idempotency key"
            return f"taken by {name}, which went offline before it replied", f"wait for {name} to come back, or {again}"
        return f"taken by {name}, which has not replied yet", "wait: its turn may still be running"
    if message.status == Status.REPLIED:
        if seen & {(Observed.FINAL_PUSHED, message.sender), (Observed.FINAL_READ, message.sender)}:
            return f"replied by {name}, and {sender} has the reply", "nothing to do"
        return f"replied by {name}; {sender} has not fetched the reply", f"kxm peer get {message.id}"
    if message.status == Status.CANCELLED:
        return f"cancelled by {sender}", "nothing to do; work that was already done is not undone"
    return f"expired before {name} replied", "send it again under a new idempotency key if it still matters"


def _recipients_step(message: Message) -> str:
    if message.open:
        return f'kxm peer reply {message.id} "TEXT"'
    if message.status == Status.CANCELLED:
        return "stop work on it; what was already done is not undone"
    return "nothing to do"
