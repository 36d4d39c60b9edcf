"""How records are shown to a model: the record as JSON, and each foreign body behind it inside its own fence."""

import json
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from peerline.client.fanout import Response
from peerline.client.records import Agent, Message, Trail
from peerline.core.fence import NONCE_BYTES, render_once, visible

Entropy = Callable[[int], bytes]
FOREIGN_NAMES = ("name", "purpose", "model", "host", "branch", "fromName", "toName", "error", "held")


@dataclass(frozen=True, slots=True)
class Result:
    """The texts of a tool's result; the first is the JSON of the contract."""

    texts: tuple[str, ...]
    is_error: bool = False

    def with_notice(self, notice: str) -> "Result":
        return Result((*self.texts, notice), self.is_error) if notice else self


def of(value: dict[str, Any], *bodies: str) -> Result:
    return Result((json.dumps(value, indent=2, ensure_ascii=False), *bodies))


def error(text: str) -> Result:
    return Result((text,), is_error=True)


def of_message(message: Message, own: str, entropy: Entropy, trail: Trail | None = None) -> Result:
    """`own` is the reader's agent id: its own words need no fence. With a trail it says where the message is."""
    record, bodies = _shown(message, own, entropy)
    return of(record | where(trail), *bodies)


def where(trail: Trail | None) -> dict[str, str]:
    """Why a message is not further, and the next step."""
    return {} if trail is None else {"standing": visible(trail.standing, 300), "next": visible(trail.next, 300)}


def of_inbox(
    requests: Iterable[Message],
    unread: Iterable[Message],
    own: str,
    entropy: Entropy,
    wake: dict[str, str] | None = None,
) -> Result:
    """`wake` is how the session can be told of what comes."""
    shown = [_shown(message, own, entropy) for message in requests]
    value: dict[str, Any] = {"messages": [record for record, _ in shown]}
    value["unreadReplies"] = [
        {"messageId": message.id, "from": visible(message.recipient_name, 80)} for message in unread
    ]
    if wake is not None:
        value["wake"] = wake
    return of(value, *(body for _, bodies in shown for body in bodies))


def of_agents(agents: Iterable[Agent], own: str) -> Result:
    records = [_visible(agent.as_json() | {"online": agent.online, "presence": agent.presence}) for agent in agents]
    return of({"agents": [record | ({"you": True} if record["id"] == own else {}) for record in records]})


def of_responses(responses: Iterable[Response], entropy: Entropy) -> Result:
    records: list[dict[str, Any]] = []
    bodies: list[str] = []
    for response in responses:
        record = _visible(response.as_json())
        if response.reply is not None:
            origin = {"reply of": response.target, "request": response.message_id or ""}
            content = _fenced(response.reply.content, origin, response.by_gateway, bodies, entropy)
            record["reply"]["content"] = content
        records.append(record)
    return of({"responses": records}, *bodies)


def _shown(message: Message, own: str, entropy: Entropy) -> tuple[dict[str, Any], list[str]]:
    bodies: list[str] = []
    always = {"delivery": message.delivery, "hops": message.hops, "maxHops": message.max_hops, "seq": message.seq}
    record = _visible(message.as_json() | always)
    if message.sender != own:
        origin = {"from": message.sender_name, "request": message.id}
        record["content"] = _fenced(message.content, origin, message.by_gateway, bodies, entropy)
    if message.reply is not None and message.recipient != own:
        origin = {"reply of": message.recipient_name, "request": message.id}
        record["reply"]["content"] = _fenced(message.reply.content, origin, message.reply_by_gateway, bodies, entropy)
    return record, bodies


def _fenced(body: str, origin: dict[str, str], by_gateway: bool, bodies: list[str], entropy: Entropy) -> str:
    """Put the body behind the record; what stands in its place says where it is."""
    nonce = entropy(NONCE_BYTES)
    bodies.append(render_once(body, origin, nonce, by_gateway=by_gateway))
    return f"see below, mark {nonce.hex()}"


def _visible(record: dict[str, Any]) -> dict[str, Any]:
    return record | {name: visible(record[name]) for name in FOREIGN_NAMES if isinstance(record.get(name), str)}
