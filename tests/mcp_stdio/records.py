"""Records as a hub tells them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from peerline.client.records import Message, Reply

AT = datetime(2026, 11, 30, 12, tzinfo=UTC)


def a_message(number: int = 1, *, reply: str | None = None, **given: Any) -> Message:
    """`agt_lead` asks `agt_me`."""
    fields: dict[str, Any] = {
        "id": f"msg_{number}",
        "sender": "agt_lead",
        "sender_name": "lead",
        "recipient": "agt_me",
        "recipient_name": "me",
        "content": "look",
        "status": "delivered" if reply is None else "replied",
        "created_at": AT,
        "expires_at": AT + timedelta(days=1),
        "reply": None if reply is None else Reply(content=reply, created_at=AT),
    }
    return Message(**(fields | given))
