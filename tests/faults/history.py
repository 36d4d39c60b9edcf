"""What the clients did and were told, and whether the store agrees: the invariants of a hub after any fault.

A client records every operation before it sends it and closes it with the answer. One counter orders all beginnings
and ends, so "A was answered before B began" is known exactly. The checker compares that history with the rows found
in the store. An operation without an answer may or may not have happened; everything else is judged.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum


class Act(StrEnum):
    SEND = "send"
    ACKNOWLEDGE = "acknowledge"
    REPLY = "reply"
    CANCEL = "cancel"
    GET = "get"
    AWAIT = "await"
    PUSHED = "pushed"  # a request offered on a stream; it begins when that stream was opened
    TOLD = "told"  # an own event on a stream: reply, cancelled, expired


class Outcome(StrEnum):
    DONE = "done"
    REFUSED = "refused"
    UNKNOWN = "unknown"


OPEN = ("queued", "delivered")
FINAL = ("replied", "cancelled", "expired")
RANK = {"queued": 0, "delivered": 1, "replied": 2, "cancelled": 2, "expired": 2}
LATER_THAN_ALL = 1 << 62


@dataclass(frozen=True, slots=True, kw_only=True)
class Record:
    """A message as somebody read it, from the wire or from the table."""

    id: str
    sender: str
    recipient: str
    content: str
    key: str | None
    status: str
    reply: str | None
    expires_ms: int


@dataclass(slots=True, kw_only=True)
class Operation:
    """`text` is the content of a send or a reply; `message` the id acted on (a send learns it from its answer)."""

    began: int
    agent: str
    act: Act
    message: str | None = None
    text: str = ""
    key: str | None = None
    ended: int = LATER_THAN_ALL
    outcome: Outcome = Outcome.UNKNOWN
    status: int = 0
    code: str = ""
    seen: Record | None = None


@dataclass(slots=True)
class History:
    """Operations in the order in which they began."""

    operations: list[Operation] = field(default_factory=list)
    _clock: int = 0
    _due: int = 0
    _call: Callable[[], None] | None = None

    def call_after(self, answers: int, call: Callable[[], None]) -> None:
        """Call once, when that many more answers have come."""
        self._due, self._call = answers, call

    def tick(self) -> int:
        self._clock += 1
        return self._clock

    def begin(
        self,
        agent: str,
        act: Act,
        *,
        message: str | None = None,
        text: str = "",
        key: str | None = None,
        began: int = 0,
    ) -> Operation:
        operation = Operation(began=began or self.tick(), agent=agent, act=act, message=message, text=text, key=key)
        self.operations.append(operation)
        return operation

    def end(self, operation: Operation, status: int, code: str, seen: Record | None) -> None:
        operation.ended = self.tick()
        operation.status, operation.code, operation.seen = status, code, seen
        operation.outcome = Outcome.DONE if status < 400 else Outcome.REFUSED
        if seen is not None:
            operation.message = seen.id
        self._due -= 1
        if self._due == 0 and self._call is not None:
            self._call()


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """The store after the faults. `inboxes` and `offered` (streams opened after the end): per recipient looked at."""

    rows: Sequence[Record]
    now_ms: int
    inboxes: Mapping[str, frozenset[str]] = field(default_factory=dict)
    offered: Mapping[str, frozenset[str]] = field(default_factory=dict)


def violations(operations: Iterable[Operation], found: Found) -> list[str]:
    """Every broken promise as one line that begins with the invariant's name; empty when all hold."""
    operations = list(operations)
    rows = {row.id: row for row in found.rows}
    by_message: dict[str, list[Operation]] = defaultdict(list)
    for operation in operations:
        if operation.message is not None:
            by_message[operation.message].append(operation)
    broken: list[str] = []
    broken += _lost(operations, rows)
    broken += _second_replies(by_message, rows)
    broken += _moved_back(by_message, rows)
    broken += _wrong_final(by_message, found)
    broken += _keys(operations, found.rows)
    broken += _unexpected_rows(operations, found.rows)
    broken += _refusals(operations, rows)
    broken += _deliveries(by_message, found)
    return broken


def _lost(operations: Iterable[Operation], rows: Mapping[str, Record]) -> Iterator[str]:
    for operation in operations:
        if operation.outcome is not Outcome.DONE or operation.message is None:
            continue
        row = rows.get(operation.message)
        if row is None:
            yield f"I1 lost: {operation.act} of {operation.message} was answered {operation.status}, no row"
        elif operation.act is Act.SEND and (row.sender, row.content, row.key) != (
            operation.agent,
            operation.text,
            operation.key,
        ):
            yield f"I1 changed: {row.id} is not what was sent"
        elif operation.act is Act.ACKNOWLEDGE and row.status == "queued":
            yield f"I1 lost: the acknowledgement of {row.id} was answered, the row is queued"
        elif operation.act is Act.REPLY and row.status != "replied":
            yield f"I1 lost: the reply to {row.id} was answered, the row is {row.status}"
        elif operation.act is Act.CANCEL and row.status != "cancelled":
            yield f"I1 lost: the cancel of {row.id} was answered, the row is {row.status}"


def _second_replies(by_message: Mapping[str, list[Operation]], rows: Mapping[str, Record]) -> Iterator[str]:
    for message, operations in by_message.items():
        done = [op for op in operations if op.act is Act.REPLY and op.outcome is Outcome.DONE]
        if len(done) > 1:
            yield f"I3 second reply: {len(done)} replies to {message} were accepted"
        read = {op.seen.reply for op in operations if op.seen and op.seen.reply is not None}
        if (row := rows.get(message)) and row.reply is not None:
            read.add(row.reply)
        if len(read) > 1:
            yield f"I3 second reply: {message} was read with {len(read)} different replies"
        if done and row and row.reply != done[0].text:
            yield f"I3 changed reply: {message} does not hold the reply that was accepted"


def _moved_back(by_message: Mapping[str, list[Operation]], rows: Mapping[str, Record]) -> Iterator[str]:
    """A status read once is never followed, in real time, by an earlier one; a final one never by another."""
    for message, operations in by_message.items():
        looks = sorted(
            ((op.began, op.ended, op.seen.status) for op in operations if op.seen is not None), key=lambda look: look[1]
        )
        if row := rows.get(message):
            looks.append((LATER_THAN_ALL, LATER_THAN_ALL + 1, row.status))
        for at, (_, ended, before) in enumerate(looks):
            for began, _, after in looks[at + 1 :]:
                if began > ended and (RANK[after] < RANK[before] or (before in FINAL and after != before)):
                    yield f"I2 moved back: {message} was {before}, later {after}"
                    break


def _wrong_final(by_message: Mapping[str, list[Operation]], found: Found) -> Iterator[str]:
    """A state that nobody asked for: a move needs an attempt that was not refused, expiry needs its time."""
    for row in found.rows:
        tried = [op for op in by_message.get(row.id, ()) if op.outcome is not Outcome.REFUSED]
        acts = {op.act for op in tried}
        if row.status == "expired" and found.now_ms < row.expires_ms:
            yield f"I9 too early: {row.id} expired {row.expires_ms - found.now_ms} ms before its time"
        if row.status == "cancelled" and Act.CANCEL not in acts:
            yield f"I2 wrong final state: {row.id} is cancelled, nobody cancelled it"
        if row.status == "delivered" and Act.ACKNOWLEDGE not in acts:
            yield f"I2 wrong state: {row.id} is delivered, nobody acknowledged it"
        if (row.status == "replied") != (row.reply is not None):
            yield f"I3 torn: {row.id} is {row.status} with reply {row.reply!r}"
        if row.status == "replied" and row.reply not in {op.text for op in tried if op.act is Act.REPLY}:
            yield f"I3 foreign reply: {row.id} holds a reply that nobody gave"


def _keys(operations: Iterable[Operation], rows: Iterable[Record]) -> Iterator[str]:
    stored: dict[tuple[str, str], set[str]] = defaultdict(set)
    for row in rows:
        if row.key is not None:
            stored[row.sender, row.key].add(row.id)
    sends: dict[tuple[str, str], list[Operation]] = defaultdict(list)
    for operation in operations:
        if operation.act is Act.SEND and operation.key is not None:
            sends[operation.agent, operation.key].append(operation)
    for key, ids in stored.items():
        if len(ids) > 1:
            yield f"I8 twice: key {key[1]} of {key[0]} has {len(ids)} rows"
    for key, attempts in sends.items():
        done = [op for op in attempts if op.outcome is Outcome.DONE]
        if len({op.message for op in done}) > 1:
            yield f"I4 two ids: key {key[1]} of {key[0]} was answered with different ids"
        if sum(op.status == 202 for op in done) > 1:
            yield f"I4 made twice: key {key[1]} of {key[0]} was answered 202 more than once"
        if len({op.text for op in done}) > 1:
            yield f"I4 conflict accepted: key {key[1]} of {key[0]} was accepted with different fields"
        if len({op.text for op in attempts}) == 1 and any(op.code == "idempotency_conflict" for op in attempts):
            yield f"I4 false conflict: key {key[1]} of {key[0]} was refused for identical fields"


def _unexpected_rows(operations: Iterable[Operation], rows: Iterable[Record]) -> Iterator[str]:
    """Texts are unique to a logical send, so a row is traced to its attempts by sender and content."""
    attempts: dict[tuple[str, str], list[Operation]] = defaultdict(list)
    for operation in operations:
        if operation.act is Act.SEND:
            attempts[operation.agent, operation.text].append(operation)
    count: dict[tuple[str, str], int] = defaultdict(int)
    for row in rows:
        count[row.sender, row.content] += 1
        tried = attempts.get((row.sender, row.content), [])
        if not tried:
            yield f"I10 unexpected: nobody sent {row.id}"
        elif all(op.outcome is Outcome.REFUSED for op in tried):
            yield f"I10 refused and stored: {row.id} was refused with {tried[0].status} {tried[0].code}"
    for (sender, content), copies in count.items():
        possible = [op for op in attempts.get((sender, content), ()) if op.outcome is not Outcome.REFUSED]
        keyed = any(op.key is not None for op in possible)
        if possible and copies > (1 if keyed else len(possible)):
            yield f"I8 twice: {copies} rows for one send of {sender}"


def _refusals(operations: Iterable[Operation], rows: Mapping[str, Record]) -> Iterator[str]:
    for operation in operations:
        if operation.outcome is not Outcome.REFUSED:
            continue
        if not operation.code:
            yield f"I10 no code: {operation.act} was refused with {operation.status} and no code"
        row = rows.get(operation.message or "")
        if row is None:
            continue
        if operation.code == "duplicate_reply" and row.status != "replied":
            yield f"I10 false refusal: {row.id} is {row.status}, a reply was refused as the second"
        if operation.code == "invalid_message_state" and row.status in OPEN:
            yield f"I10 false refusal: {row.id} is {row.status}, {operation.act} was refused as too late"
        if operation.code == "message_not_found":
            yield f"I10 false refusal: {row.id} is there, {operation.act} was told it is not"


def _deliveries(by_message: Mapping[str, list[Operation]], found: Found) -> Iterator[str]:
    for message, operations in by_message.items():
        taken = [op.ended for op in operations if op.act is Act.ACKNOWLEDGE and op.outcome is Outcome.DONE]
        opened = [op.began for op in operations if op.act is Act.PUSHED]
        if taken and opened and max(opened) > min(taken):
            yield f"I6 pushed again: {message} was offered on a stream opened after its acknowledgement"
    for row in found.rows:
        live = row.expires_ms > found.now_ms
        offered, inbox = found.offered.get(row.recipient), found.inboxes.get(row.recipient)
        if offered is not None and live and row.status == "queued" and row.id not in offered:
            yield f"I5 never offered: {row.id} is queued and its live recipient was not told"
        if inbox is not None and live and row.status in OPEN and row.id not in inbox:
            yield f"I6 hidden: {row.id} is {row.status} and not in the inbox"
        if inbox is not None and row.status in FINAL and row.id in inbox:
            yield f"I6 ghost: {row.id} is {row.status} and still in the inbox"
