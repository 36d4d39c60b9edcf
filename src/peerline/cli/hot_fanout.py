"""`kxm peer fanout`: one question to up to three peers side by side (spec/hub.md 3.13)."""

from __future__ import annotations

from time import monotonic, sleep

from peerline.cli.hot_address import escaped
from peerline.cli.hot_http import TIMEOUT_MS, Connection, ConnectionLost, Unreachable
from peerline.cli.hot_identity import unreachable
from peerline.cli.hot_json import dumps
from peerline.cli.hot_output import Failure, usage
from peerline.cli.hot_paths import sha256_hex
from peerline.cli.hot_session import FINAL, SLICE_MS, Interrupted, Session, accepted, lost_during, pause, record
from peerline.cli.hot_table import CONTEXT

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SHARED = ("content", "correlationId", "workflowContext", "ttlMs", "needs")
WAIT_MIN_MS, WAIT_MAX_MS = 100, 1_800_000
SPACE = "\t\n\v\f\r \u00a0\u1680\u2028\u2029\u202f\u205f\u3000\ufeff" + "".join(
    map(chr, range(0x2000, 0x200B))
)  # as core.text


class Leg:
    """The request to one peer: its connection, and what is known of it."""

    def __init__(self, target: str, hub: Connection) -> None:
        self.target = target
        self.hub = hub
        self.message: dict[str, Any] = {}
        self.error: str | None = None

    @property
    def open(self) -> bool:
        return self.error is None and self.message.get("status") not in FINAL

    def take(self, method: str, path: str, timeout_ms: int) -> None:
        """Read the answer to what was asked on this leg's connection.

        Raises:
            Failure: it is a refusal, or there is none.
        """
        try:
            self.message = record(accepted(self.hub.answer(timeout_ms)))
        except ConnectionLost as why:
            raise lost_during(method, path, why) from None
        except ValueError as why:
            raise Failure(str(why)) from None

    def entry(self, wait_status: str) -> dict[str, Any]:
        if self.error is not None:
            known = {"messageId": self.message["id"]} if self.message else {}
            return {"target": self.target, **known, "status": "error", "error": self.error}
        told: dict[str, Any] = {
            "target": self.target,
            "messageId": self.message["id"],
            "status": self.message["status"],
        }
        if self.open:
            told |= {"status": "pending", "messageStatus": self.message["status"]}
            return told | {"expiresAt": self.message.get("expiresAt"), "waitStatus": wait_status}
        return told | {name: self.message[name] for name in ("reply", "error") if self.message.get(name) is not None}


def targets(names: list[str]) -> list[str]:
    """Trimmed, lower-cased, each once."""
    unique = list(dict.fromkeys(name for name in (each.strip(SPACE).lower() for each in names) if name))
    if not 1 <= len(unique) <= 3:
        raise usage("fanout requires between one and three unique targets")
    return unique


def check(fields: dict[str, Any]) -> None:
    """What is known to be wrong before anything is sent."""
    targets(fields["targets"])
    if not WAIT_MIN_MS <= fields.get("timeoutMs", WAIT_MAX_MS) <= WAIT_MAX_MS:
        raise usage(f"timeoutMs must be an integer between {WAIT_MIN_MS} and {WAIT_MAX_MS}")


def key(prefix: str, target: str, correlation_id: str | None, context: dict[str, Any] | None) -> str:
    """The idempotency key of one target's request: the same for the same call, whoever computes it."""
    named: dict[str, Any] = {"prefix": prefix, "correlationId": correlation_id, "target": target}
    if context is not None:
        named["workflowContext"] = {member: context[member] for member in CONTEXT}
    return "fanout:" + sha256_hex(dumps(named).encode())


def fanout(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    """Send to all, wait for all, tell of each. One that fails changes nothing for the others.

    Raises:
        Interrupted: with the entries so far as its result, since their ids are worth keeping.
    """
    legs = [Leg(target, session.twin()) for target in targets(fields["targets"])]
    wait_ms = fields.get("timeoutMs", WAIT_MAX_MS)
    try:
        _send(legs, fields)
        _wait(legs, monotonic() + wait_ms / 1000)
    except Interrupted as interrupted:
        interrupted.result = {"responses": [leg.entry("aborted") for leg in legs if leg.error or leg.message]}
        raise
    finally:
        for leg in legs:
            leg.hub.close()
    return {"responses": [leg.entry("timed_out") for leg in legs]}


def _send(legs: list[Leg], fields: dict[str, Any]) -> None:
    common = {name: fields[name] for name in SHARED if name in fields}
    prefix: str | None = fields.get("idempotencyKeyPrefix")
    asked: list[Leg] = []
    for leg in legs:
        body: dict[str, Any] = {"target": leg.target, "delivery": "followUp"} | common
        if prefix:
            body["idempotencyKey"] = key(
                prefix, leg.target, fields.get("correlationId") or None, fields.get("workflowContext")
            )
        try:
            leg.hub.ask("POST", "/v1/messages", body)
            asked.append(leg)
        except Unreachable as why:
            leg.error = unreachable(leg.hub.address, why).detail
    for leg in asked:
        try:
            leg.take("POST", "/v1/messages", TIMEOUT_MS)
        except Failure as failure:
            leg.error = failure.detail


def _wait(legs: list[Leg], end: float) -> None:
    """Look at every open request until none is, or the time is over; the last look comes after that."""
    while waiting := [leg for leg in legs if leg.open]:
        left = max(0, round((end - monotonic()) * 1000))
        asked, slice_ms = monotonic(), min(left, SLICE_MS)
        lost = _look(waiting, slice_ms)
        if left == 0:
            return
        if lost:
            sleep(min(0.5, left / 1000))  # the hub is restarting; the requests are on its disk
        elif all(leg.open for leg in waiting):
            pause(asked, slice_ms, end)


def _look(waiting: list[Leg], wait_ms: int) -> bool:
    """Ask for all of them at once, the answers held back for `wait_ms`; whether a connection failed."""
    lost, asked = False, []
    for leg in waiting:
        path = f"/v1/messages/{escaped(leg.message['id'])}?waitMs={wait_ms}"
        try:
            leg.hub.ask("GET", path)
            asked.append((leg, path))
        except Unreachable:
            lost = True
    for leg, path in asked:
        try:
            leg.take("GET", path, wait_ms + TIMEOUT_MS)
        except Failure as failure:
            if failure.more.get("code") == "message_not_found":
                leg.error = failure.detail  # purged: there is nothing left to wait for
            lost = True
    return lost
