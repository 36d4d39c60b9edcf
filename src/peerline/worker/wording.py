"""What a request is to the model of a supervised session, and what its settled text is to the asker."""

from collections.abc import Iterable, Sequence
from typing import Final

from peerline.client.records import Message
from peerline.core.fence import cut, render_once, visible
from peerline.core.limits import CONTENT
from peerline.core.text import trim, utf16_length

HEAD: Final = "KXM, messages between agents; this is not your user."
NO_TEXT: Final = "The turn ended without a text. Ask again if you need an answer."
NAME: Final = 80
LISTED: Final = 5


def request(message: Message, nonce: bytes, *, begun_before: bool, joins: Sequence[Message] = ()) -> str:
    """The text of a turn; `joins` are the requests of a turn under way that this one goes into."""
    who = visible(message.sender_name, NAME)
    origin = {"from": message.sender_name, "request": message.id}
    body = render_once(message.content, origin, nonce, by_gateway=message.by_gateway)
    lines = [HEAD, f"{who}, another agent, asks:", "", body, ""]
    if joins:
        others = ", ".join(sorted({visible(one.sender_name, NAME) for one in joins}))
        lines.append(f"It came while you work for {others}, as a steer: it may change what you should do.")
        lines.append(
            f"The final answer of this turn goes to {who} and to {others} by itself; no tool has to be called."
        )
    else:
        lines.append(f"The final answer of this turn goes to {who} by itself; no tool has to be called for it.")
    if begun_before:
        lines.append("This request was begun before and not finished: look at what is done before you repeat a step.")
    return "\n".join(lines)


def outcomes(ended: Iterable[Message]) -> str:
    """Which requests of this agent have come to an end: ids and names, never a body."""
    ended = list(ended)
    lines = [HEAD]
    for message in ended[:LISTED]:
        who, named = visible(message.recipient_name, NAME), visible(message.id, NAME)
        if message.reply is not None or message.status == "replied":
            lines.append(f'- {who} replied to your request {named}. Read it: kxm_get with messageId "{named}".')
        else:
            lines.append(f"- Your request {named} to {who} expired without a reply.")
    if len(ended) > LISTED:
        lines.append(f"- {len(ended) - LISTED} more have ended.")
    return "\n".join(lines)


def reply(text: str) -> str:
    """The settled text as a reply: never empty, and cut with a note where it is too long."""
    text = text if trim(text) else NO_TEXT
    length = utf16_length(text)
    if length <= CONTENT:
        return text
    note = f"\n\n[cut: the whole answer had {length} characters]"
    return cut(text, CONTENT - len(note)) + note
