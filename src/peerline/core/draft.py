"""A request before it is accepted: what the sender asked for, and whether it repeats an earlier one."""

from collections.abc import Callable

from peerline.core.errors import HopLimitReached, HumanNotHere, IdempotencyConflict, RingDetected, SelfTarget
from peerline.core.ids import AgentId, MessageId, Millis
from peerline.core.message import Message, Status


class Draft:
    """`path`: ids of the agents that the chain went through, the sender last; spaces between. `needs`: None: an agent;
    human: a person, who is reached by way of a room."""

    __slots__ = (
        "allow_offline",
        "body",
        "correlation_id",
        "delivery",
        "hops",
        "idempotency_key",
        "max_hops",
        "needs",
        "path",
        "reply_to",
        "target",
        "ttl_ms",
    )

    def __init__(
        self,
        target: str,
        body: str,
        delivery: str,
        hops: int,
        max_hops: int,
        ttl_ms: int,
        allow_offline: bool,
        correlation_id: str | None,
        reply_to: str | None,
        idempotency_key: str | None,
        path: str | None = None,
        needs: str | None = None,
    ) -> None:
        self.target, self.body, self.delivery = target, body, delivery
        self.hops, self.max_hops, self.ttl_ms = hops, max_hops, ttl_ms
        self.allow_offline, self.correlation_id, self.reply_to = allow_offline, correlation_id, reply_to
        self.idempotency_key, self.path, self.needs = idempotency_key, path, needs

    def repeated(self, original: Message) -> Message:
        """The original that this draft repeats exactly (seed: «Make retries safe»); `allow_offline` is not compared.

        Raises:
            IdempotencyConflict: the key was used with any different field.
        """
        same = (
            original.addressed(self.target)
            and original.body == self.body
            and original.delivery == self.delivery
            and original.correlation_id == self.correlation_id
            and original.reply_to == self.reply_to
            and original.hops == self.hops
            and original.max_hops == self.max_hops
            and original.path == self.path
            and original.needs == self.needs
            and original.expires_at - original.sent_at == self.ttl_ms
        )
        if not same:
            raise IdempotencyConflict("idempotency key was already used for another request")
        return original

    def message(
        self,
        *,
        number: int,
        id: MessageId,
        project: str,
        sender: AgentId,
        sender_name: str,
        recipient: AgentId,
        recipient_name: str,
        seq: int,
        now: Millis,
        held: bool = False,
    ) -> Message:
        if sender == recipient:
            raise SelfTarget("cannot send a request to yourself")
        return Message(
            number, id, project, sender, sender_name, recipient, recipient_name,
            self.body, self.delivery, self.hops, self.max_hops, seq,
            self.correlation_id, self.reply_to, self.idempotency_key,
            now, now + self.ttl_ms, None, None, None,
            Status.QUEUED, None, None, None,
            self.path, now if held else None, self.needs,
        )  # fmt: skip


def check_path(path: str, recipient: AgentId, name: Callable[[str], str]) -> None:
    """Raises: RingDetected: the chain has been there; `name` gives an id's name for the text."""
    been = path.split(" ")
    if recipient in been:
        chain = " -> ".join(name(agent) for agent in (*been[been.index(recipient) :], recipient))
        raise RingDetected(
            f"ring detected ({chain}): answer the inbound request directly instead of forwarding it",
            nextAction="answer_inbound",
        )


def check_needs(needs: str | None, *, in_room: bool) -> None:
    """Raises: HumanNotHere: a person is asked for where only an agent is reached."""
    if needs is not None and not in_room:
        raise HumanNotHere(
            "needs: human is for an address in a room (<agent>@<room>), where a person of that machine answers; an "
            "agent of this hub is no person: send it without needs, or ask your own user",
            nextAction="send_without_needs_or_ask_your_user",
        )


def check_hops(hops: int, max_hops: int) -> None:
    if hops >= max_hops:
        raise HopLimitReached(
            f"hop limit reached ({hops}/{max_hops}): answer the inbound request directly instead of forwarding it"
        )
