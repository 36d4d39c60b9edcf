"""The pure parts of a fan-out: who is asked, under which key, and what is told of each (spec/hub.md 3.13)."""

import json
import re
from collections.abc import Iterable, Mapping
from typing import Any, Final, Literal

from peerline.client.records import Message, Record, Reply
from peerline.core.errors import Invalid, PeerlineError
from peerline.core.limits import FANOUT_TARGETS
from peerline.core.text import lower, trim

_SURROGATE: Final = re.compile("[\ud800-\udfff]")

WaitStatus = Literal["timed_out", "aborted"]


class Response(Record, frozen=True, kw_only=True):
    """One peer's part of a fan-out. `pending` means only that the local wait ended; the request goes on.

    `by_gateway`: the reply is the gateway's, whatever name was typed; no member of the record.
    """

    target: str
    message_id: str | None = None
    status: Literal["replied", "cancelled", "expired", "error", "pending"]
    message_status: str | None = None
    expires_at: str | None = None
    held: str | None = None
    wait_status: WaitStatus | None = None
    reply: Reply | None = None
    error: str | None = None
    by_gateway: bool = False

    def as_json(self) -> dict[str, Any]:
        shown = super().as_json()
        shown.pop("byGateway", None)
        return shown


def targets(names: Iterable[str]) -> tuple[str, ...]:
    """The peers to ask: trimmed, lower-case, each once, in the order given.

    Raises:
        Invalid: not one to three are left.
    """
    unique = tuple(dict.fromkeys(name for name in (lower(trim(each)) for each in names) if name))
    if not 1 <= len(unique) <= FANOUT_TARGETS:
        raise Invalid("fanout requires between one and three unique targets")
    return unique


def key(
    prefix: str, target: str, correlation_id: str | None = None, workflow_context: Mapping[str, Any] | None = None
) -> str:
    """The idempotency key of one target's request: 71 characters, the same in every client of the contract."""
    named: dict[str, Any] = {"prefix": prefix, "correlationId": correlation_id, "target": lower(target)}
    if workflow_context is not None:
        order = ("runId", "stageId", "requirementKey", "attempt")
        named["workflowContext"] = {name: workflow_context[name] for name in order}
    text = json.dumps(named, ensure_ascii=False, separators=(",", ":"))
    # The contract's serializer writes a lone surrogate as an escape; UTF-8 could not hold it.
    text = _SURROGATE.sub(lambda found: f"\\u{ord(found[0]):04x}", text)
    from hashlib import sha256  # loads OpenSSL

    return "fanout:" + sha256(text.encode()).hexdigest()


def answered(target: str, message: Message) -> Response:
    """The part of a peer whose message is final.

    Raises:
        AssertionError: it is not.
    """
    assert message.status != "queued" and message.status != "delivered"  # noqa: PT018  (narrows the type)
    return Response(
        target=target,
        message_id=message.id,
        status=message.status,
        reply=message.reply,
        error=message.error,
        by_gateway=message.reply_by_gateway,
    )


def pending(target: str, message: Message, wait_status: WaitStatus) -> Response:
    return Response(
        target=target,
        message_id=message.id,
        status="pending",
        message_status=message.status,
        expires_at=message.as_json()["expiresAt"],
        held=message.held,
        wait_status=wait_status,
    )


def failed(target: str, error: PeerlineError) -> Response:
    return Response(target=target, status="error", error=error.text)
