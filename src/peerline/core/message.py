"""One request with its reply, and every move it can make (seed: «How a request moves through the hub»)."""

from enum import StrEnum
from typing import Any, NamedTuple

from peerline.core.errors import DuplicateReply, MessageForbidden, WrongState
from peerline.core.ids import AgentId, MessageId, Millis
from peerline.core.text import lower


class Status(StrEnum):
    QUEUED = "queued"
    DELIVERED = "delivered"
    REPLIED = "replied"
    CANCELLED = "cancelled"
    EXPIRED = "expired"
    ERROR = "error"  # reserved: declared, never set


class Delivery(StrEnum):
    """How the recipient schedules the work; the hub only carries it (seed: «Choose a delivery mode»)."""

    FOLLOW_UP = "followUp"
    STEER = "steer"
    NEXT_TURN = "nextTurn"


class Verb(StrEnum):
    ACKNOWLEDGE = "acknowledge"
    REPLY = "reply to"
    CANCEL = "cancel"
    EXPIRE = "expire"


OPEN = (Status.QUEUED, Status.DELIVERED)
FINAL = (Status.REPLIED, Status.CANCELLED, Status.EXPIRED, Status.ERROR)

# Every legal move. What is not listed is refused.
TRANSITIONS: dict[tuple[Status, Verb], Status] = {
    (Status.QUEUED, Verb.ACKNOWLEDGE): Status.DELIVERED,
    (Status.QUEUED, Verb.REPLY): Status.REPLIED,
    (Status.QUEUED, Verb.CANCEL): Status.CANCELLED,
    (Status.QUEUED, Verb.EXPIRE): Status.EXPIRED,
    (Status.DELIVERED, Verb.ACKNOWLEDGE): Status.DELIVERED,  # delivery is at least once
    (Status.DELIVERED, Verb.REPLY): Status.REPLIED,
    (Status.DELIVERED, Verb.CANCEL): Status.CANCELLED,
    (Status.DELIVERED, Verb.EXPIRE): Status.EXPIRED,
    (Status.CANCELLED, Verb.CANCEL): Status.CANCELLED,  # a retried cancel is no error
}


class Message(NamedTuple):
    """A tuple, not a dataclass: a row of the store is one, and hot routes make several for each round trip.

    `number` is the store's own (0 before it is stored); `seq` counts per recipient from 1.
    `sender_event` / `recipient_event` number the final state among the own events of that agent.
    """

    number: int
    id: MessageId
    project: str
    sender: AgentId
    sender_name: str
    recipient: AgentId
    recipient_name: str
    body: str
    delivery: str
    hops: int
    max_hops: int
    seq: int
    correlation_id: str | None
    reply_to: str | None
    idempotency_key: str | None
    sent_at: Millis
    expires_at: Millis
    delivered_at: Millis | None
    replied_at: Millis | None
    cancelled_at: Millis | None
    status: Status
    reply: str | None
    sender_event: int | None
    recipient_event: int | None
    path: str | None  # ids of the agents that the chain went through, spaces between
    held_at: Millis | None  # when the brake stopped it, until a person lets it go
    needs: str | None = None  # None: an agent answers; whatever else stands there: only a person

    def changed(self, **values: Any) -> "Message":
        """`_replace`, at half its cost: a round trip has three of them."""
        fields = list(self)
        for name, value in values.items():
            fields[_AT[name]] = value
        return tuple.__new__(Message, fields)

    @property
    def held(self) -> bool:
        """Kept from its recipient: not pushed and in no inbox, until a person lets it go or its time is over."""
        return self.held_at is not None and self.status == Status.QUEUED

    @property
    def to_room(self) -> bool:
        """Whether it is for an address in a room, and the gateway holds it: no agent's name has an @."""
        return "@" in self.recipient_name

    @property
    def open(self) -> bool:
        return self.status in OPEN

    @property
    def final_at(self) -> Millis:
        """When it became final, as retention counts; the expiry while it is open."""
        return self.replied_at or self.cancelled_at or self.expires_at

    @property
    def error(self) -> str | None:
        if self.status == Status.CANCELLED:
            return "message cancelled by sender"
        if self.status == Status.EXPIRED:
            return "message expired before a reply was received"
        return None

    def due(self, now: Millis) -> bool:
        return self.expires_at <= now and self.status in OPEN

    def acknowledged(self, by: AgentId, now: Millis) -> "Message":
        """Taken by the recipient; a second acknowledgement changes nothing."""
        if by != self.recipient:
            raise MessageForbidden("only the recipient can acknowledge this message")
        status = self._after(Verb.ACKNOWLEDGE)
        return self if self.status == status else self.changed(status=status, delivered_at=now)

    def replied(self, by: AgentId, text: str, now: Millis) -> "Message":
        if by != self.recipient:
            raise MessageForbidden("only the recipient can reply to this message")
        if self.status == Status.REPLIED:
            raise DuplicateReply("message already has a reply")
        return self.changed(status=self._after(Verb.REPLY), reply=text, replied_at=now)

    def cancelled(self, by: AgentId, now: Millis) -> "Message":
        if by != self.sender:
            raise MessageForbidden("only the sender can cancel this message")
        status = self._after(Verb.CANCEL)
        return self if self.status == status else self.changed(status=status, cancelled_at=now)

    def expired(self, now: Millis) -> "Message":
        """The same message, or its expired form when its time is over: the hub's own move, by the hub's clock."""
        return self._replace(status=self._after(Verb.EXPIRE)) if self.due(now) else self

    def released(self, seq: int) -> "Message":
        """Let go by a person, as the recipient's next request."""
        assert self.held, "only what is held is let go"
        return self._replace(held_at=None, seq=seq)

    def seen_by(self, agent: AgentId) -> "Message":
        """The message, for its two ends only."""
        if agent not in (self.sender, self.recipient):
            raise MessageForbidden("message is not visible to this agent")
        return self

    def addressed(self, target: str) -> bool:
        """Whether `target`, as a sender typed it, meant this recipient."""
        names = {lower(self.recipient_name)}
        if self.to_room:  # a lone name stands for an address
            names.add(lower(self.recipient_name).partition("@")[0])
        return target == self.recipient or lower(target) in names

    def _after(self, verb: Verb) -> Status:
        after = TRANSITIONS.get((self.status, verb))
        if after is None:
            raise WrongState(f"cannot {verb} a {self.status} message")
        if self.held_at is not None and verb in (Verb.ACKNOWLEDGE, Verb.REPLY):
            raise WrongState(f"cannot {verb} a held message")
        return after


_AT = {name: at for at, name in enumerate(Message._fields)}
