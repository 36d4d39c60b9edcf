"""A request before it is accepted: what the sender asked for, and whether it repeats an earlier one."""

from collections.abc import Callable
from typing import NamedTuple

from peerline.core.errors import HopLimitReached, HumanNotHere, IdempotencyConflict, RingDetected, SelfTarget
from peerline.core.ids import AgentId, MessageId, Millis
from peerline.core.message import Message, Status


class Draft(NamedTuple):
    target: str
    body: str
    delivery: str
    hops: int
    max_hops: int
    ttl_ms: int
    allow_offline: bool
    correlation_id: str | None
    reply_to: str | None
    idempotency_key: str | None
    path: str | None = None  # ids of the agents that the chain went through, the sender last; spaces between
    needs: str | None = None  # None: an agent; human: a person, who is reached by way of a room

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
            number=number,
            id=id,
            project=project,
            sender=sender,
            sender_name=sender_name,
            recipient=recipient,
            recipient_name=recipient_name,
            body=self.body,
            delivery=self.delivery,
            hops=self.hops,
            max_hops=self.max_hops,
            seq=seq,
            correlation_id=self.correlation_id,
            reply_to=self.reply_to,
            idempotency_key=self.idempotency_key,
            sent_at=now,
            expires_at=now + self.ttl_ms,
            delivered_at=None,
            replied_at=None,
            cancelled_at=None,
            status=Status.QUEUED,
            reply=None,
            sender_event=None,
            recipient_event=None,
            path=self.path,
            held_at=now if held else None,
            needs=self.needs,
        )


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
