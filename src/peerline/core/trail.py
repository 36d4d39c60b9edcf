"""What was observed of a message, by whom and when; and, in one line, why it is not further (decision 2)."""

from enum import StrEnum
from typing import NamedTuple

from peerline.core.agent import Presence
from peerline.core.brake import held, release
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
    RESUMED = "identity resumed"  # an end of this message came back under a new key


# What the adapter at either end reports, nearest to the model last; at the sender's end it is about the outcome.
UNSAID = "it did not say why"
REPORTED = (Observed.NOT_ANNOUNCED, Observed.ANNOUNCED, Observed.IN_TURN, Observed.READ)
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


class Standing(NamedTuple):
    """Where a message is, why it is not further, and what its reader can do."""

    why: str
    next: str


def standing(
    message: Message, presence: Presence, streams: int, recorded: list[Fact], reader: AgentId | None = None
) -> Standing:
    """`presence` and `streams` (open ones) are the recipient's, now; the step is the reader's, else the sender's."""
    why, step = _told(message, presence, streams, recorded)
    if reader == message.recipient and not message.held:
        step = _recipients_step(message)
    return Standing(why, step)


def _told(message: Message, presence: Presence, streams: int, recorded: list[Fact]) -> tuple[str, str]:
    if message.held:
        ends = (message.sender, message.sender_name), (message.recipient, message.recipient_name)
        return held(message.sender_name, message.recipient_name), f"a person continues with: {release(*ends)}"
    if message.status == Status.QUEUED:
        return _queued(message, presence, streams, recorded)
    if message.status == Status.DELIVERED:
        return _delivered(message, presence, recorded)
    if message.status == Status.REPLIED:
        return _replied(message, recorded)
    if message.status == Status.CANCELLED:
        return f"cancelled by {message.sender_name}", "nothing to do; work that was already done is not undone"
    again = "send it again under a new idempotency key if it still matters"
    if message.held_at is not None:
        return "expired while it was held: nobody let the two agents go on", again
    return f"expired before {message.recipient_name} replied", again


def _queued(message: Message, presence: Presence, streams: int, recorded: list[Fact]) -> tuple[str, str]:
    name, came = message.recipient_name, reach(recorded, message.recipient)
    away = presence is Presence.OFFLINE
    if came is not None and not (away and came.fact is Observed.NOT_ANNOUNCED):
        why, step = _at_the_model(came, name)
        return (f"{why}, and is offline now", f"it goes out again when {name} connects") if away else (why, step)
    seen = {fact.fact for fact in recorded if fact.observer == message.recipient}
    if Observed.READ in seen:
        gone = ", and is offline now" if away else ""
        return f"read by {name}, which has not replied yet{gone}", "wait; do not send it again"
    if away:
        return f"stored; {name} is offline", f"it goes out when {name} connects; do not send it again"
    if streams == 0:
        return f"stored; {name} is {presence} but has no open stream", f"{name} sees it when it reads its inbox"
    if Observed.PUSHED in seen:
        return f"pushed to {name}, which has not taken it yet", "wait: it may be busy with earlier work"
    return f"stored; being pushed to {name}", "wait a moment"


def _delivered(message: Message, presence: Presence, recorded: list[Fact]) -> tuple[str, str]:
    name, came = message.recipient_name, reach(recorded, message.recipient)
    if presence is Presence.OFFLINE:
        worked = came is not None and came.fact in (Observed.IN_TURN, Observed.READ)
        again = "cancel it and send it again under a new idempotency key"
        return (
            f"{'in a turn of' if worked else 'taken by'} {name}, which went offline before it replied",
            f"wait for {name} to come back, or {again}",
        )
    if came is not None:
        return _at_the_model(came, name, "taken; ")
    return f"taken by {name}, which has not replied yet", "wait: its turn may still be running"


def _at_the_model(came: Reach, name: str, taken: str = "") -> tuple[str, str]:
    if came.fact is Observed.NOT_ANNOUNCED:
        return (
            f"{taken}{came.adapter} could not announce it to {name}: {came.reason or UNSAID}",
            f"{name} sees it in its next session, or when it reads its inbox",
        )
    if came.fact is Observed.ANNOUNCED:
        return (
            f"{taken}announced to {name} by {came.adapter}, not yet in a turn",
            "wait: it may be busy with earlier work",
        )
    if came.fact is Observed.IN_TURN and came.reason:
        stands = f"in a turn of {name} ({came.adapter}) that does not go on by itself: {came.reason}"
        return stands, f"somebody has to answer it in {name}'s terminal"
    happened = "read by" if came.fact is Observed.READ else "in a turn of"
    return f"{happened} {name} ({came.adapter}), which has not replied yet", "wait: its turn may still be running"


def _replied(message: Message, recorded: list[Fact]) -> tuple[str, str]:
    name, asker, came = message.recipient_name, message.sender_name, reach(recorded, message.sender)
    if came is not None and came.fact in (Observed.IN_TURN, Observed.READ):
        happened = "has read the reply" if came.fact is Observed.READ else "has the reply in a turn"
        return f"replied by {name}, and {asker} {happened} ({came.adapter})", "nothing to do"
    seen = {fact.fact for fact in recorded if fact.observer == message.sender}
    if Observed.FINAL_READ in seen:
        return f"replied by {name}, and {asker} has the reply", "nothing to do"
    fetch = f"kxm peer get {message.id}"
    if came is not None and came.fact is Observed.ANNOUNCED:
        announced = f"the reply was announced to {asker} by {came.adapter}, not yet in a turn"
        return f"replied by {name}; {announced}", f"wait: it may be busy with other work; {fetch} shows it"
    if came is not None:
        return (
            f"replied by {name}; {came.adapter} could not announce the reply to {asker}: {came.reason or UNSAID}",
            fetch,
        )
    if Observed.FINAL_PUSHED in seen:  # a stream that was written to says nothing of who read from it
        return f"replied by {name}; the reply was pushed to {asker}, and nothing says that it was read", fetch
    return f"replied by {name}; {asker} has not fetched the reply", fetch


def _recipients_step(message: Message) -> str:
    if message.open:
        return f'kxm peer reply {message.id} "TEXT"'
    if message.status == Status.CANCELLED:
        return "stop work on it; what was already done is not undone"
    return "nothing to do"
