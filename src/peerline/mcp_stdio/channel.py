"""What is pushed into a session: the parameters of `notifications/claude/channel`, strings only (spec/hub.md 5.2).

A request comes with its body inside the fence. A reply comes without: only by reading it does the session show the
hub, and so the other agent, that it was read.
"""

from typing import Any, Final

from peerline.client.records import Message
from peerline.core.fence import named, render_once, visible

METHOD: Final = "notifications/claude/channel"


def request_params(message: Message, nonce: bytes) -> dict[str, Any]:
    name = named(message.sender_name)
    origin = {"from": message.sender_name, "request": message.id}
    body = render_once(message.content, origin, nonce, by_gateway=message.by_gateway)
    content = (
        f"{name}, another agent, asks:\n\n{body}\n\n"
        f'When it is done, call kxm_reply with messageId "{visible(message.id, 80)}".'
    )
    return {"content": content, "meta": _meta(message, message.sender_name)}


def outcome_params(message: Message) -> dict[str, Any]:
    """The end of a request of our own: a reply, or that none came in time."""
    name, message_id = named(message.recipient_name), visible(message.id, 80)
    if message.status == "replied":
        content, kind = f'{name} replied to your request. Read it: kxm_get with messageId "{message_id}".', "reply"
    else:
        content, kind = f"Your request {message_id} to {name} expired without a reply.", str(message.status)
    return {"content": content, "meta": _meta(message, message.recipient_name) | {"kind": kind}}


def _meta(message: Message, name: str) -> dict[str, str]:
    meta = {"message_id": message.id, "from_agent": visible(name, 80), "delivery": message.delivery}
    return meta | ({"correlation_id": visible(message.correlation_id, 160)} if message.correlation_id else {})
