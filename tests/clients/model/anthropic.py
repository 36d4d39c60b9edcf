"""The Messages format: how Claude Code asks, and how it is answered, streamed or whole."""

import itertools
import json
from collections.abc import Iterator
from typing import Any, Final

from tests.clients.model.conversation import Answer, Conversation, Turn

PATH: Final = "/v1/messages"
_USAGE: Final = {"input_tokens": 10, "output_tokens": 5}
_numbers = itertools.count(1)


def parse(asked: dict[str, Any]) -> Conversation:
    return Conversation(
        system=_text(asked.get("system")),
        model=str(asked.get("model", "")),
        tools=tuple(tool["name"] for tool in asked.get("tools", ()) if "name" in tool),
        turns=tuple(_turn(message) for message in asked.get("messages", ())),
    )


def _turn(message: dict[str, Any]) -> Turn:
    content = message["content"]
    blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
    return Turn(
        role=message["role"],
        text="\n".join(block["text"] for block in blocks if block["type"] == "text"),
        results=tuple(_text(block.get("content")) for block in blocks if block["type"] == "tool_result"),
        calls=tuple(block["name"] for block in blocks if block["type"] == "tool_use"),
    )


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(block["text"] for block in content or () if "text" in block)


def whole(answer: Answer, conversation: Conversation) -> dict[str, Any]:
    """The answer as one object."""
    content: list[dict[str, Any]] = [{"type": "text", "text": answer.text}] if answer.text or not answer.calls else []
    content += [
        {
            "type": "tool_use",
            "id": f"toolu_{next(_numbers):06d}",
            "name": conversation.tool(call.name),
            "input": call.arguments,
        }
        for call in answer.calls
    ]
    return {
        "id": f"msg_{next(_numbers):06d}",
        "type": "message",
        "role": "assistant",
        "model": conversation.model,
        "content": content,
        "stop_reason": "tool_use" if answer.calls else "end_turn",
        "stop_sequence": None,
        "usage": _USAGE,
    }


def stream(answer: Answer, conversation: Conversation) -> Iterator[tuple[str, dict[str, Any]]]:
    """The same as events: each has its name and its data."""
    message = whole(answer, conversation)
    yield _event("message_start", message={**message, "content": [], "stop_reason": None})
    for index, block in enumerate(message["content"]):
        if block["type"] == "text":
            begun, delta = {**block, "text": ""}, {"type": "text_delta", "text": block["text"]}
        else:
            begun = {**block, "input": {}}
            delta = {"type": "input_json_delta", "partial_json": json.dumps(block["input"])}
        yield _event("content_block_start", index=index, content_block=begun)
        yield _event("content_block_delta", index=index, delta=delta)
        yield _event("content_block_stop", index=index)
    ended = {"stop_reason": message["stop_reason"], "stop_sequence": None}
    yield _event("message_delta", delta=ended, usage={"output_tokens": _USAGE["output_tokens"]})
    yield _event("message_stop")


def _event(name: str, **data: Any) -> tuple[str, dict[str, Any]]:
    return name, {"type": name, **data}
