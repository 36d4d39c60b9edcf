"""One request with its reply, and every move it can make (seed: «How a request moves through the hub»)."""

from enum import StrEnum
from typing import Any, Final

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


# Constants: compiled, a look into an enumeration costs as much as a call.
_QUEUED: Final = Status.QUEUED
_DELIVERED: Final = Status.DELIVERED
_REPLIED: Final = Status.REPLIED
_ACKNOWLEDGE: Final = Verb.ACKNOWLEDGE
_REPLY: Final = Verb.REPLY

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


FIELDS: Final = (
    "number",
    "id",
    "project",
    "sender",
    "sender_name",
    "recipient",
    "recipient_name",
    "body",
    "delivery",
    "hops",
    "max_hops",
    "seq",
    "correlation_id",
    "reply_to",
    "idempotency_key",
    "sent_at",
    "expires_at",
    "delivered_at",
    "replied_at",
    "cancelled_at",
    "status",
    "reply",
    "sender_event",
    "recipient_event",
    "path",
    "held_at",
    "needs",
)  # in the order of the store's rows


class Message:
    """Never changed once it is handed on: a move gives another one.

    A class with slots, neither a tuple nor a dataclass: compiled, its attributes are fields of a struct and its methods
    plain calls, which was a seventh of a round trip; interpreted, it costs what the tuple did.

    `number` is the store's own (0 before it is stored); `seq` counts per recipient from 1.
    `sender_event` / `recipient_event` number the final state among the own events of that agent.
    `path`: ids of the agents that the chain went through, spaces between. `held_at`: when the brake stopped it, until a
    person lets it go. `needs`: None: an agent answers; whatever else stands there: only a person.
    """

    __slots__ = FIELDS

    def __init__(
        self,
        number: int,
        id: MessageId,
        project: str,
        sender: AgentId,
        sender_name: str,
        recipient: AgentId,
        recipient_name: str,
        body: str,
        delivery: str,
        hops: int,
        max_hops: int,
        seq: int,
        correlation_id: str | None,
        reply_to: str | None,
        idempotency_key: str | None,
        sent_at: Millis,
        expires_at: Millis,
        delivered_at: Millis | None,
        replied_at: Millis | None,
        cancelled_at: Millis | None,
        status: Status,
        reply: str | None,
        sender_event: int | None,
        recipient_event: int | None,
        path: str | None,
        held_at: Millis | None,
        needs: str | None = None,
    ) -> None:
        self.number, self.id, self.project = number, id, project
        self.sender, self.sender_name, self.recipient = sender, sender_name, recipient
        self.recipient_name, self.body, self.delivery = recipient_name, body, delivery
        self.hops, self.max_hops, self.seq = hops, max_hops, seq
        self.correlation_id, self.reply_to, self.idempotency_key = correlation_id, reply_to, idempotency_key
        self.sent_at, self.expires_at, self.delivered_at = sent_at, expires_at, delivered_at
        self.replied_at, self.cancelled_at, self.status = replied_at, cancelled_at, status
        self.reply, self.sender_event, self.recipient_event = reply, sender_event, recipient_event
        self.path, self.held_at, self.needs = path, held_at, needs

    def values(self) -> tuple[Any, ...]:
        """What the store keeps of it, in the order of `FIELDS`."""
        return (
            self.number, self.id, self.project,
            self.sender, self.sender_name, self.recipient,
            self.recipient_name, self.body, self.delivery,
            self.hops, self.max_hops, self.seq,
            self.correlation_id, self.reply_to, self.idempotency_key,
            self.sent_at, self.expires_at, self.delivered_at,
            self.replied_at, self.cancelled_at, self.status,
            self.reply, self.sender_event, self.recipient_event,
            self.path, self.held_at, self.needs,
        )  # fmt: skip

    def _copy(self) -> "Message":
        """The same message, to be changed before anybody has it."""
        return Message(*self.values())

    def changed(self, **values: Any) -> "Message":
        """With other values; the moves below, which are hot, set theirs themselves."""
        other = self._copy()
        for name, value in values.items():
            setattr(other, name, value)
        return other

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Message) and self.values() == other.values()

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<Message {self.id} {self.status}>"

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
        return self.status == _QUEUED or self.status == _DELIVERED

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
        return self.expires_at <= now and self.open

    def acknowledged(self, by: AgentId, now: Millis) -> "Message":
        """Taken by the recipient; a second acknowledgement changes nothing."""
        if by != self.recipient:
            raise MessageForbidden("only the recipient can acknowledge this message")
        status = self._after(_ACKNOWLEDGE)
        if self.status == status:
            return self
        taken = self._copy()
        taken.status, taken.delivered_at = status, now
        return taken

    def replied(self, by: AgentId, text: str, now: Millis) -> "Message":
        if by != self.recipient:
            raise MessageForbidden("only the recipient can reply to this message")
        if self.status == _REPLIED:
            raise DuplicateReply("message already has a reply")
        answered = self._copy()
        answered.status, answered.reply, answered.replied_at = self._after(_REPLY), text, now
        return answered

    def cancelled(self, by: AgentId, now: Millis) -> "Message":
        if by != self.sender:
            raise MessageForbidden("only the sender can cancel this message")
        status = self._after(Verb.CANCEL)
        if self.status == status:
            return self
        withdrawn = self._copy()
        withdrawn.status, withdrawn.cancelled_at = status, now
        return withdrawn

    def expired(self, now: Millis) -> "Message":
        """The same message, or its expired form when its time is over: the hub's own move, by the hub's clock."""
        if not self.due(now):
            return self
        late = self._copy()
        late.status = self._after(Verb.EXPIRE)
        return late

    def ended(self, sender_event: int | None, recipient_event: int | None) -> "Message":
        """The final message with its numbers among its ends' own events."""
        told = self._copy()
        told.sender_event, told.recipient_event = sender_event, recipient_event
        return told

    def released(self, seq: int) -> "Message":
        """Let go by a person, as the recipient's next request."""
        assert self.held, "only what is held is let go"
        let_go = self._copy()
        let_go.held_at, let_go.seq = None, seq
        return let_go

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
