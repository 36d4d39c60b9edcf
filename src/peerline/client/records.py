"""What the hub tells about agents and messages, as frozen values; members this version does not know are left out."""

from datetime import UTC, datetime
from typing import Any, Literal

import msgspec

from peerline.core.agent import GATEWAY

Status = Literal["queued", "delivered", "replied", "cancelled", "expired", "error"]
Delivery = Literal["followUp", "steer", "nextTurn"]


class Record(msgspec.Struct, frozen=True, kw_only=True, rename="camel", omit_defaults=True):
    """`as_json()` is the record as the hub wrote it, defaults left out."""

    def as_json(self) -> dict[str, Any]:
        built = msgspec.to_builtins(self, builtin_types=(datetime,))
        plain = _plain(built)
        assert isinstance(plain, dict)
        return plain


class Agent(Record, frozen=True, kw_only=True):
    """`remote`: it is in a room, its name is an address, and its presence is the network's: live, stale or away."""

    id: str
    name: str
    project: str
    purpose: str = ""
    model: str | None = None
    host: str | None = None
    branch: str | None = None
    online: bool = False
    presence: Literal["online", "stale", "offline", "live", "away"] = "offline"
    connected_at: datetime | None = None
    last_seen_at: datetime | None = None
    lease_expires_at: datetime | None = None
    remote: bool = False
    room: str | None = None
    network: str | None = None
    usual_delay_ms: int | None = None


class Reply(Record, frozen=True, kw_only=True):
    content: str
    created_at: datetime


class Note(Record, frozen=True, kw_only=True):
    number: int = 0
    content: str
    created_at: datetime | None = None


class Message(Record, frozen=True, kw_only=True):
    """One request with its reply. `sender` and `recipient` are agent ids, the names those of the time of sending.

    `remote` is known after sending to an address in a room: what the network says of who is asked.
    `needs` is set where not an agent is to answer it but a person; what is no known need is a person's too.
    `held` is set while the hub keeps it from its recipient: why, and with which command a person lets it go.
    """

    id: str
    project: str = ""
    sender: str = msgspec.field(name="from")
    sender_name: str = msgspec.field(name="fromName", default="")
    recipient: str = msgspec.field(name="to")
    recipient_name: str = msgspec.field(name="toName", default="")
    content: str = ""
    status: Status
    delivery: Delivery = "followUp"
    hops: int = 0
    max_hops: int = 5
    seq: int = 0
    correlation_id: str | None = None
    reply_to: str | None = None
    idempotency_key: str | None = None
    created_at: datetime
    expires_at: datetime
    delivered_at: datetime | None = None
    replied_at: datetime | None = None
    cancelled_at: datetime | None = None
    reply: Reply | None = None
    path: tuple[str, ...] = ()
    needs: str | None = None
    held_at: datetime | None = None
    held: str | None = None
    error: str | None = None
    workflow_run_id: str | None = None
    workflow_context: dict[str, Any] | None = None
    notes: tuple[Note, ...] = ()
    remote: dict[str, Any] | None = None

    @property
    def by_gateway(self) -> bool:
        """Whether the hub's gateway wrote the request: nobody else can have its name."""
        return self.sender_name == GATEWAY

    @property
    def reply_by_gateway(self) -> bool:
        """Whether the reply is the gateway's: what is for an address in a room is its, and no agent's name has an @."""
        return "@" in self.recipient_name or self.recipient_name == GATEWAY

    @property
    def final(self) -> bool:
        return self.status not in ("queued", "delivered")


class Fact(Record, frozen=True, kw_only=True):
    """One thing that was observed of a message: what, when by the hub's clock, and by whom."""

    at: datetime
    fact: str
    observer: str = ""
    detail: str | None = None


class Trail(Record, frozen=True, kw_only=True):
    """`standing` says why the message is not further, `next` what to do about it; `stuck`: nobody is at work on it, or
    nobody has its outcome."""

    message: Message
    facts: tuple[Fact, ...] = ()
    standing: str = ""
    next: str = ""
    stuck: bool = False


class Lease(Record, frozen=True, kw_only=True):
    """A named thing of the project that one agent holds until `expires_at`; the fencing token only grows."""

    name: str
    project: str = ""
    holder: str = msgspec.field(name="holderAgentId")
    holder_name: str = msgspec.field(name="holderAgentName", default="")
    fencing_token: int
    acquired_at: datetime
    expires_at: datetime


class RefusedSend(Record, frozen=True, kw_only=True):
    """Something that we sent and the hub refused, last `at`, so many `times` in a row; there is no message of it."""

    at: datetime
    target: str
    code: str
    why: str
    next: str = ""
    times: int = 1


class PairEnd(Record, frozen=True, kw_only=True):
    id: str
    name: str = ""


class HeldPair(Record, frozen=True, kw_only=True):
    """Two agents of which `held` requests wait, since the first was sent; `next` is a person's command."""

    agents: tuple[PairEnd, PairEnd]
    held: int
    since: datetime
    next: str = ""


class Continued(Record, frozen=True, kw_only=True):
    """Two agents that may go on; `released` requests went out at once."""

    agents: tuple[PairEnd, PairEnd]
    released: int


class Ticket(Record, frozen=True, kw_only=True):
    """A WebSocket's URL that works once, until `expires_at`."""

    url: str
    expires_at: datetime


class Acknowledged(Record, frozen=True, kw_only=True):
    """`first` is true for the one session whose acknowledgement took the work."""

    message: Message
    first: bool = True

    def of(self, known: Message) -> Message:
        """The message as it is now, with the text that `known` has: a minimal answer leaves it out."""
        return msgspec.structs.replace(self.message, content=self.message.content or known.content)


class Sent(Record, frozen=True, kw_only=True):
    """`idempotent` is true when the hub had this request already."""

    message: Message
    idempotent: bool = False
    remote: dict[str, Any] | None = None


class Registered(Record, frozen=True, kw_only=True):
    """`warning` is set when another online agent's name looks like ours."""

    agent: Agent
    agent_key: str
    resumed: bool = False
    warning: str | None = None


def _plain(value: object) -> object:
    if isinstance(value, datetime):
        return value.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
    if isinstance(value, dict):
        return {name: _plain(each) for name, each in value.items()}
    if isinstance(value, (list, tuple)):
        return [_plain(each) for each in value]
    return value
