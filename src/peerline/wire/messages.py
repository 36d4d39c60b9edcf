"""Messages on the wire: what a send may hold, and the record everybody reads (spec/hub.md 3.5, 3.8)."""

from typing import Any, Final

from peerline.core import limits
from peerline.core.brake import held, release
from peerline.core.draft import Draft, check_hops
from peerline.core.errors import Invalid, InvalidWorkflowContext, WorkflowContextForbidden
from peerline.core.message import OPEN, Delivery, Message
from peerline.core.text import utf16_length
from peerline.core.trail import FAR, REPORTED, Fact
from peerline.wire.fields import Choice, Field, Flag, Integer, Label, Opaque, Text, Texts, read
from peerline.wire.instants import instant
from peerline.wire.json_body import encode

AGENT, HUMAN = "agent", "human"
_TARGET = Text("target", limits.TARGET_WITH_ROOM, required=True)
WHAT: tuple[Field, ...] = (
    _TARGET,
    Text("content", limits.CONTENT, required=True, verbatim=True),
    Choice("delivery", tuple(Delivery), Delivery.FOLLOW_UP, "delivery must be steer, followUp, or nextTurn"),
)
WHERE: tuple[Field, ...] = (
    Text("correlationId", limits.CORRELATION_ID),
    Text("replyTo", limits.ID),
    Integer("hops", 0, limits.HOPS_MAX, 0),
    Integer("maxHops", 1, limits.MAX_HOPS_MAX, limits.MAX_HOPS_DEFAULT),
)
HOW: tuple[Field, ...] = (
    Integer("ttlMs", limits.TTL_MIN_MS, limits.TTL_MAX_MS, limits.TTL_DEFAULT_MS),
    Flag("allowOffline"),
    Text("idempotencyKey", limits.IDEMPOTENCY_KEY),
    Texts("path", 0, limits.PATH, each=limits.ID, of="agent ids", pattern="[A-Za-z0-9_.:-]+"),
    Choice("needs", (AGENT, HUMAN), AGENT, "needs must be agent or human"),
)
SEND: tuple[Field, ...] = (*WHAT, Opaque("workflowContext"), *WHERE, *HOW)
REPLY: tuple[Field, ...] = (Text("content", limits.CONTENT, required=True, verbatim=True),)
NOTE: tuple[Field, ...] = (Text("content", limits.NOTE, required=True, verbatim=True),)
FACT: tuple[Field, ...] = (
    Choice("fact", (*REPORTED, *FAR), None, f"fact must be one of: {', '.join(REPORTED)}"),
    Label("adapter", limits.ADAPTER, required=True),
    Label("reason", limits.REASON),
)
ACKNOWLEDGE: tuple[Field, ...] = (Text("adapter", limits.NAME),)

_WHAT = frozenset(field.name for field in WHAT)
_UNSAID = {field.name: field.default for field in WHERE}

_CONTEXT = {"runId": 80, "stageId": 64, "requirementKey": 128}


def draft(body: dict[str, Any], default_ttl_ms: int) -> Draft:
    """The request in `body`; of several faults the contract's first one is reported.

    Raises:
        Invalid and what is below it; WorkflowContextForbidden: no workflows run on this hub yet.
    """
    target = _TARGET.read(body)
    if target is not None and "@" not in target and utf16_length(target) > limits.TARGET:
        raise Invalid(f"target exceeds {limits.TARGET} characters")
    content, delivery = WHAT[1].read(body), WHAT[2].read(body)
    if _WHAT.issuperset(body):  # most say no more
        hops, max_hops = _UNSAID["hops"], _UNSAID["maxHops"]
        return Draft(target or "", content, delivery, hops, max_hops, default_ttl_ms, False, None, None, None)
    if body.get("workflowContext") is not None:
        check_context(body["workflowContext"])
        raise WorkflowContextForbidden(
            "workflow run does not exist on this hub", nextAction="send_without_workflow_context"
        )
    where = read(WHERE, body)  # the table's order is the order in which faults are reported
    check_hops(where["hops"], where["maxHops"])
    path = HOW[3].read(body) if "path" in body else None
    ttl_ms = HOW[0].read(body) if "ttlMs" in body else default_ttl_ms
    return Draft(
        target=target or "",
        body=content,
        delivery=delivery,
        hops=where["hops"],
        max_hops=where["maxHops"],
        ttl_ms=ttl_ms,
        allow_offline=HOW[1].read(body),
        correlation_id=where["correlationId"],
        reply_to=where["replyTo"],
        idempotency_key=HOW[2].read(body),
        path=None if path is None else " ".join(path),
        needs=None if HOW[4].read(body) == AGENT else HUMAN,
    )


def check_context(context: Any) -> None:
    """Raises: InvalidWorkflowContext: not exactly the four members with their bounds."""
    if not isinstance(context, dict) or set(context) != {*_CONTEXT, "attempt"}:
        raise InvalidWorkflowContext("workflowContext must hold runId, stageId, requirementKey and attempt")
    try:
        for name, at_most in _CONTEXT.items():
            Text(name, at_most, required=True).read(context)
        Integer("attempt", 1, 20).read(context)
    except Invalid as error:
        raise InvalidWorkflowContext(f"workflowContext.{error.text}") from None


def record(message: Message) -> dict[str, Any]:
    """The full record; members that have no value are left out."""
    return fixed(message) | changing(message)


def fixed(message: Message) -> dict[str, Any]:
    """What stays as it was sent, for the life of the message under this `seq`."""
    out: dict[str, Any] = {
        "id": message.id,
        "project": message.project,
        "from": message.sender,
        "fromName": message.sender_name,
        "to": message.recipient,
        "toName": message.recipient_name,
        "content": message.body,
        "delivery": message.delivery,
        "hops": message.hops,
        "maxHops": message.max_hops,
        "seq": message.seq,
        "createdAt": instant(message.sent_at),
        "expiresAt": instant(message.expires_at),
    }
    if message.correlation_id is not None:
        out["correlationId"] = message.correlation_id
    if message.reply_to is not None:
        out["replyTo"] = message.reply_to
    if message.idempotency_key is not None:
        out["idempotencyKey"] = message.idempotency_key
    if message.path is not None:
        out["path"] = message.path.split(" ")
    if message.needs is not None:
        out["needs"] = message.needs
    return out


def changing(message: Message) -> dict[str, Any]:
    """Where the message is."""
    out: dict[str, Any] = {"status": message.status}
    if message.held_at is not None:
        out["heldAt"] = instant(message.held_at)
        if message.held:
            out["held"] = _held(message)
    if message.delivered_at is not None:
        out["deliveredAt"] = instant(message.delivered_at)
    if message.replied_at is not None:
        at = instant(message.replied_at)
        out["repliedAt"] = at
        out["reply"] = {"content": message.reply, "createdAt": at}
    elif message.cancelled_at is not None:
        out["cancelledAt"] = instant(message.cancelled_at)
    if (error := message.error) is not None:
        out["error"] = error
    return out


def _held(message: Message) -> str:
    ends = (message.sender, message.sender_name), (message.recipient, message.recipient_name)
    return f"{held(message.sender_name, message.recipient_name)}; a person continues with: {release(*ends)}"


class Lines:
    """Records as lines of JSON. A message is written several times within a moment: as answer, as frame, again when it
    is taken and replied. Its fixed part is kept for that long.

    A line is given in two pieces, so that whoever writes a large body need not copy it into one: the fixed part, and
    where the message is.
    """

    def __init__(self, most_bytes: int = 4_194_304) -> None:
        self._most_bytes = most_bytes
        self._newest: Message | None = None
        self._start = self._brief = self._end = b""  # of the newest; `_brief` is `_start` without the text
        self._fixed: dict[tuple[str, int], tuple[bytes, bytes]] = {}
        self._bytes = 0

    def line(self, message: Message) -> bytes:
        return b"".join(self.pieces(message))

    def pieces(self, message: Message) -> tuple[bytes, bytes]:
        self._look(message)
        return self._start, self._end

    def outcome(self, message: Message) -> tuple[bytes, bytes]:
        """In pieces, without the request's text: for whom has it."""
        self._look(message)
        return self._brief, self._end

    def short(self, message: Message) -> bytes:
        """Without both texts."""
        self._look(message)
        if message.replied_at is None:
            return self._brief + self._end
        return self._brief + self._end[: self._end.index(b',"reply":{')] + b"}"

    def _look(self, message: Message) -> None:
        if self._newest is message:
            return
        key = (message.id, message.seq)
        known = self._fixed.get(key)
        if known is None:
            start = encode(fixed(message))[:-1] + b","
            known = start, _without_text(start)
            self._bytes += len(start)
            if self._bytes > self._most_bytes:
                self._fixed.clear()
                self._bytes = len(start)
            self._fixed[key] = known
        elif message.status not in OPEN:
            self._bytes -= len(known[0])
            del self._fixed[key]  # final: it will hardly be written again
        self._start, self._brief = known
        self._end = _rest(message)
        self._newest = message


def _rest(message: Message) -> bytes:
    """`changing` as JSON, without its opening brace. The three states of most messages are written here: that takes a
    fifth of what a dict and a search for characters to escape do."""
    delivered_at, replied_at = message.delivered_at, message.replied_at
    if message.held_at is None and delivered_at is not None:
        if replied_at is not None:
            at = instant(replied_at)
            told = f'"status":"replied","deliveredAt":"{instant(delivered_at)}","repliedAt":"{at}","reply":{{"content":'
            return b"".join((told.encode(), encode(message.reply), f',"createdAt":"{at}"}}}}'.encode()))
        if message.status == "delivered":
            return f'"status":"delivered","deliveredAt":"{instant(delivered_at)}"}}'.encode()
    elif message.held_at is None and message.status == "queued":
        return b'"status":"queued"}'
    return encode(changing(message))[1:]


def _without_text(start: bytes) -> bytes:
    """What is looked for stands in no text: a quote inside one is escaped."""
    return start[: start.index(b',"content":')] + start[start.rindex(b',"delivery":') :]


LINES: Final = Lines()


def head(message: Message) -> dict[str, Any]:
    """The record without body and reply: for trails, lists and logs."""
    return {name: value for name, value in record(message).items() if name not in ("content", "reply")}


def fact_record(fact: Fact) -> dict[str, Any]:
    out = {"at": instant(fact.at), "fact": fact.fact, "observer": fact.observer}
    return out if fact.detail is None else out | {"detail": fact.detail}
