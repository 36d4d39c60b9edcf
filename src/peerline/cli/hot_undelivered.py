"""`kxm peer undelivered` and `resend`: what nobody has taken yet, and sending it again without it being done twice."""

from __future__ import annotations

from peerline.cli.hot_address import escaped
from peerline.cli.hot_output import Failure

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

    from peerline.cli.hot_session import Session

MOST = 1000
KEPT = ("content", "delivery", "hops", "maxHops", "correlationId", "needs")


def undelivered(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    body = session.call("GET", f"/v1/messages?state=undelivered&limit={MOST}")
    return {"messages": body.get("messages", [])}


def resend(session: Session, fields: dict[str, Any]) -> dict[str, Any]:
    """A new message like the old one, with `replyTo` naming it; an open one is cancelled first.

    Repeating the command finds the message that it sent, unless another key is given.

    Raises:
        Failure: not ours, replied already, or refused by the hub.
    """
    old_id = fields["messageId"]
    old = session.message(old_id)
    if old.get("from") != session.agent_id:
        raise Failure("only its sender can send a message again", more={"code": "message_forbidden"})
    withdrawn = _withdraw(session, old)
    again = {field: old[field] for field in KEPT if field in old}
    again |= {"target": _target(old), "ttlMs": _life_ms(old), "allowOffline": True, "replyTo": old_id}
    again["idempotencyKey"] = fields.get("idempotencyKey") or f"resend:{old_id}"
    try:
        answer = session.call("POST", "/v1/messages", again)
    except Failure as failure:
        if withdrawn:
            failure.detail += f"; {old_id} is cancelled and was not sent again: repeat this command"
        raise
    new = answer.get("message", {})
    sent = {"messageId": new.get("id"), "status": new.get("status"), "target": new.get("toName")}
    return {**sent, "replyTo": old_id, "idempotent": answer.get("idempotent", False)}


def _target(old: dict[str, Any]) -> str:
    """The agent's id; an address in a room as it stands, which is the gateway's to find."""
    name: str = old.get("toName", "")
    return name if "@" in name else old["to"]


def _withdraw(session: Session, old: dict[str, Any]) -> bool:
    """Make sure that nobody will act on the old one any more; True if it was open until now."""
    if old.get("status") in ("queued", "delivered"):
        try:
            session.call("DELETE", f"/v1/messages/{escaped(old['id'])}")
            return True
        except Failure as failure:
            if failure.more.get("code") != "invalid_message_state":
                raise
            old = session.message(old["id"])  # became final in this moment
    if old.get("status") == "replied":
        raise Failure(f"the message has its reply: kxm peer get {old['id']}", more={"code": "invalid_message_state"})
    return False


def _life_ms(old: dict[str, Any]) -> int:
    from datetime import datetime

    life = datetime.fromisoformat(old["expiresAt"]) - datetime.fromisoformat(old["createdAt"])
    return round(life.total_seconds() * 1000)
