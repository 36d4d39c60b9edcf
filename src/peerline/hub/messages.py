"""Messages: send, read, acknowledge, reply, cancel; each one transaction in which the value decides."""

from __future__ import annotations  # an annotation of an inner function would be worked out at each call

from collections.abc import Callable
from typing import Final, NamedTuple

from peerline.core.agent import GATEWAY, Agent, Presence
from peerline.core.draft import Draft, check_needs, check_path
from peerline.core.errors import MessageForbidden, NoteLimitReached, PeerlineError, SelfTarget, WrongState
from peerline.core.ids import AgentId, Entropy, MessageId, Millis, ordered_id
from peerline.core.limits import NOTES_PER_MESSAGE
from peerline.core.message import Message, Status
from peerline.core.standing import Recipient, Standing, standing
from peerline.core.trail import Fact, Observed, facts
from peerline.database.later import Later
from peerline.database.work import Kept
from peerline.hub.agents import Agents
from peerline.hub.facts import Facts
from peerline.hub.journal import Journal
from peerline.hub.pairs import Pairs
from peerline.hub.wakeups import Wakeups
from peerline.store.api import Store, Tx
from peerline.store.tables import messages as sql
from peerline.store.tables.trail import Note
from peerline.wire.instants import instant

Move = Callable[[Message, Millis], Message]
SENT = {
    "all": sql.SENT,
    "open": sql.OPEN_FROM,
    "undelivered": sql.UNDELIVERED_FROM,
    "final": sql.FINAL_FROM,
    "unread": sql.UNREAD_FROM,
}
_REPLIED: Final = Status.REPLIED
_CANCELLED: Final = Status.CANCELLED
KINDS: Final = {Status.REPLIED: "reply", Status.CANCELLED: "cancelled", Status.EXPIRED: "expired"}


class Told(NamedTuple):
    """Everything that is known of one message."""

    message: Message
    facts: list[Fact]
    standing: Standing


class Messages:
    def __init__(
        self,
        store: Store,
        agents: Agents,
        wakeups: Wakeups,
        observed: Facts,
        journal: Journal,
        now: Callable[[], Millis],
        entropy: Entropy,
        queue_limit: int,
        pairs: Pairs,
        room: Callable[[], None] = lambda: None,
    ) -> None:
        """`room` raises StorageFull when the disk has too little left for something new."""
        self._store, self._agents, self._wakeups, self._facts = store, agents, wakeups, observed
        self._journal, self._now, self._entropy, self._queue_limit = journal, now, entropy, queue_limit
        self._pairs, self._room = pairs, room

    def send(self, sender: Agent, draft: Draft) -> Later[tuple[Message, bool]]:
        """Accept a request, or find the one it repeats (then True).

        An exact retry is answered whatever became of the original, even when the target is offline by now.
        """
        now = self._now()
        message_id = MessageId(ordered_id("msg", now, self._entropy))
        held: bool | None = None

        def work(tx: Tx) -> tuple[Message, bool]:
            nonlocal held
            if draft.idempotency_key is not None:
                original = tx.messages.by_key(sender.id, draft.idempotency_key)
                if original is not None:
                    return draft.repeated(original), True
            target = self._agents.addressed(sender.project, draft.target)
            recipient = self._agents.target(sender.project, target, draft.allow_offline)
            check_needs(draft.needs, in_room=recipient.gateway)
            if recipient.id == sender.id:
                raise SelfTarget("cannot send a request to yourself")
            if draft.path is not None and not recipient.gateway:  # it stands in every chain that came from a room
                check_path(draft.path, recipient.id, self._agents.name)
            self._room()
            tx.counters.take_place(recipient.id, self._queue_limit)
            if held is None:  # a group that is run again counts it once
                held = self._pairs.holds(tx, sender, recipient)
            message = draft.message(
                number=tx.counters.next_number(),
                id=message_id,
                project=sender.project,
                sender=sender.id,
                sender_name=sender.name,
                recipient=recipient.id,
                recipient_name=target if "@" in target else recipient.name,
                seq=tx.counters.next_seq(recipient.id),
                now=now,
                held=held,
            )
            tx.messages.add(message)
            if held:
                tx.trail.add([(message.number, now, Observed.HELD, "hub", None)])
                tx.wake(sender.id, "held", message)
            else:
                tx.wake(recipient.id, "message", message)
            return message, False

        return self._store.write(work)

    def get(self, message_id: MessageId, by: Agent) -> Later[Message]:
        """Read a message as one of its two ends; the trail remembers who read what."""
        later = self._change(message_id, lambda message, now: message.seen_by(by.id))

        def seen(read: Later[Message]) -> None:
            if read.value is not None:
                self._seen(read.value, by)

        later.then(seen)
        return later

    def _seen(self, message: Message, by: Agent) -> None:
        if not message.open:
            event = message.sender_event if by.id == message.sender else message.recipient_event
            self._facts.got(message.number, Observed.FINAL_READ, by.id, event)
        elif by.id == message.recipient:
            self._facts.observed(message.number, Observed.READ, by.id)

    def acknowledge(self, message_id: MessageId, by: Agent, adapter: str | None = None) -> Later[tuple[Message, bool]]:
        """Take a message; True for the acknowledgement that took it."""
        now = self._now()

        def work(tx: Tx) -> tuple[Message, bool]:
            before = tx.messages.get(message_id)
            after = _moved(tx, before, lambda message, now: message.acknowledged(by.id, now), now)
            return after, after is not before

        later = self._store.write(work)
        if adapter is not None:

            def taken(done: Later[tuple[Message, bool]]) -> None:
                if done.value is not None:
                    self._facts.observed(done.value[0].number, Observed.ACKNOWLEDGED, by.id, f"by {adapter}")

            later.then(taken)
        return later

    def reply(self, message_id: MessageId, by: Agent, text: str) -> Later[Message]:
        """Answer a message, once."""
        later = self._change(message_id, lambda message, now: message.replied(by.id, text, now))
        if by.person:

            def turn(replied: Later[Message]) -> None:
                if replied.value is not None:
                    self._pairs.turn(replied.value.sender)

            later.then(turn)
        return later

    def cancel(self, message_id: MessageId, by: Agent) -> Later[Message]:
        return self._change(message_id, lambda message, now: message.cancelled(by.id, now))

    def _change(self, message_id: MessageId, move: Move) -> Later[Message]:
        now = self._now()
        return self._store.write(lambda tx: _moved(tx, tx.messages.get(message_id), move, now))

    def inbox(self, agent: Agent, *, peek: bool = False) -> Later[list[Message]]:
        """The agent's open requests in order; acknowledges nothing. A `peek` only looks what is there: nobody has read
        it then."""
        now = self._now()

        def work(tx: Tx) -> list[Message]:
            expire_for(tx, agent.id, now)
            return tx.messages.list(sql.OPEN_FOR, agent=agent.id, after=0, most=self._queue_limit)

        later = self._store.write(work)

        def read(listed: Later[list[Message]]) -> None:
            if not listed.failed:
                for message in listed.result():
                    self._facts.observed(message.number, Observed.READ, agent.id, "inbox")

        if not peek:
            later.then(read)
        return later

    def sent(self, agent: Agent, state: str, most: int) -> Later[list[Message]]:
        """What the agent sent, newest first, in one of the `SENT` states; undelivered: nobody took it, and it is still
        queued or has expired; unread: replied, and no get or await has fetched the reply."""
        if state == "unread":
            self._facts.flush()
        return self._store.write(lambda tx: tx.messages.list(SENT[state], agent=agent.id, most=most))

    def trail(self, message_id: MessageId, by: Agent) -> Later[Told]:
        """Who observed what of the message, and why it is not further."""
        self._facts.flush()

        def work(tx: Tx) -> tuple[Message, list[Fact], list[Note]]:
            message = tx.messages.get(message_id).seen_by(by.id)
            return message, tx.trail.of(message.number), tx.trail.notes(message.number)

        def tell(found: tuple[Message, list[Fact], list[Note]]) -> Told:
            message, recorded, notes = found
            recorded = recorded + [
                Fact(n.at, Observed.NOTED, message.recipient_name, f"note {n.number}") for n in notes
            ]
            message = message.expired(self._now())
            where = standing(message, self._recipient(message), recorded, by.id)
            end = GATEWAY if message.to_room else message.recipient_name
            names = {message.sender: message.sender_name, message.recipient: end}
            names |= {AgentId(f.observer): self._agents.name(f.observer) for f in recorded if f.observer not in names}
            told = [
                fact._replace(observer=names.get(AgentId(fact.observer), fact.observer))
                for fact in facts(message, recorded)
            ]
            return Told(message, told, where)

        return self._store.write(work).map(tell)

    def _recipient(self, message: Message) -> Recipient:
        presence = self._agents.presence(message.recipient)
        feeds = self._wakeups.feeds(message.recipient)
        full = bool(feeds) and all(feed.full for feed in feeds)
        twin = self._agents.twin(message.recipient) if presence is Presence.OFFLINE else None
        return Recipient(presence, len(feeds), full, twin)

    def note(self, message_id: MessageId, by: Agent, text: str) -> Later[tuple[Message, Note]]:
        """A word of progress from the recipient while the request is open; the one reply stays unused."""
        now = self._now()

        def work(tx: Tx) -> tuple[Message, Note]:
            message = tx.messages.get(message_id)
            if by.id != message.recipient:
                raise MessageForbidden("only the recipient can add a note to this message")
            if not message.open or message.due(now):
                raise WrongState(f"cannot add a note to a {message.expired(now).status} message")
            count = len(tx.trail.notes(message.number))
            if count >= NOTES_PER_MESSAGE:
                raise NoteLimitReached(f"a message takes {NOTES_PER_MESSAGE} notes", nextAction="reply_instead")
            note = Note(count + 1, now, text)
            tx.trail.add_note(message.number, note)
            tx.wake(
                message.sender, "note", message, {"number": note.number, "content": text, "createdAt": instant(now)}
            )
            return message, note

        return self._store.write(work)

    def notes(self, message_id: MessageId, by: Agent) -> Later[list[Note]]:
        def work(tx: Tx) -> list[Note]:
            return tx.trail.notes(tx.messages.get(message_id).seen_by(by.id).number)

        return self._store.write(work)

    def expire_due(self, most: int) -> Later[int]:
        """Expire up to `most` messages whose time is over; returns how many."""
        now = self._now()

        def work(tx: Tx) -> int:
            due = tx.messages.list(sql.DUE, now=now, most=most)
            for message in due:
                _finish(tx, message.expired(now))
            return len(due)

        return self._store.write(work)

    def purge(self, retention_ms: int, most: int) -> Later[int]:
        before = self._now() - retention_ms

        def purged(count: int) -> int:
            if count:
                self._journal.count("kxm_messages_purged_total", count)
                self._journal.event("message_purged", count=count)
            return count

        def work(tx: Tx) -> int:
            tx.counters.flush()  # the rows to go hold numbers that must not come again
            return tx.messages.purge(before, most)

        return self._store.write(work).map(purged)


def expire_for(tx: Tx, agent: AgentId, now: Millis) -> None:
    """Expire the agent's overdue requests before it is shown any."""
    for message in tx.messages.list(sql.DUE_FOR, agent=agent, now=now):
        _finish(tx, message.expired(now))


def _moved(tx: Tx, before: Message, move: Move, now: Millis) -> Message:
    """The message after its time and then `move` had their say. An expiry stays, whatever the caller is told.

    Raises: what `move` raises.
    """
    current = _finish(tx, before.expired(now)) if before.due(now) else before
    try:
        after = move(current, now)
    except PeerlineError as refused:
        if current is before:
            raise
        raise Kept(refused) from None
    if after is current:
        return after
    if after.open:
        tx.messages.save_delivered(after)
        return after
    return _finish(tx, after)


def _finish(tx: Tx, message: Message) -> Message:
    """Store a message that has just become final and wake those who are to be told: a reply its sender, a
    cancellation its recipient, an expiry both."""
    kind = KINDS[message.status]
    to_sender = message.status != _CANCELLED
    to_recipient = message.status != _REPLIED
    message = message.ended(
        tx.counters.next_event(message.sender) if to_sender else None,
        tx.counters.next_event(message.recipient) if to_recipient else None,
    )
    tx.messages.save_final(message, tx.counters.next_ended())
    if to_sender:
        tx.wake(message.sender, kind, message)
    if to_recipient:
        tx.wake(message.recipient, kind, message)
    return message
