"""The Chat Completions format: how Pi and OpenCode ask."""

import itertools
import json
from collections.abc import Iterator
from typing import Any, Final

from tests.clients.model.conversation import Answer, Conversation, Turn

PATH: Final = "/v1/chat/completions"
_numbers = itertools.count(1)


def parse(asked: dict[str, Any]) -> Conversation:
    messages = asked.get("messages", ())
    rules = [_text(message.get("content")) for message in messages if message["role"] in ("system", "developer")]
    return Conversation(
        system="\n".join(rules),
        model=str(asked.get("model", "")),
        tools=tuple(tool["function"]["name"] for tool in asked.get("tools") or () if "function" in tool),
        turns=tuple(_turn(message) for message in messages if message["role"] not in ("system", "developer")),
    )


def _turn(message: dict[str, Any]) -> Turn:
    if message["role"] == "tool":
        return Turn("user", results=(_text(message.get("content")),))
    called = tuple(call["function"]["name"] for call in message.get("tool_calls") or ())
    return Turn(message["role"], _text(message.get("content")), calls=called)


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or () if "text" in part)


def whole(answer: Answer, conversation: Conversation) -> dict[str, Any]:
    """The answer as one object."""
    calls = [
        {
            "id": f"call_{next(_numbers):06d}",
            "type": "function",
            "function": {"name": conversation.tool(call.name), "arguments": json.dumps(call.arguments)},
        }
        for call in answer.calls
    ]
    message = {"role": "assistant", "content": answer.text or None} | ({"tool_calls": calls} if calls else {})
    return {
        "id": f"chatcmpl-{next(_numbers):06d}",
        "object": "chat.completion",
        "created": 0,
        "model": conversation.model,
        "choices": [{"index": 0, "message": message, "finish_reason": "tool_calls" if calls else "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5, "total_tokens": 15},
    }


def stream(answer: Answer, conversation: Conversation) -> Iterator[tuple[str, Any]]:
    """The same in pieces; they have no names, and a word of its own ends them."""
    done = whole(answer, conversation)
    (choice,) = done["choices"]
    calls = [{"index": at, **call} for at, call in enumerate(choice["message"].get("tool_calls", ()))]
    head = {key: done[key] for key in ("id", "created", "model")} | {"object": "chat.completion.chunk"}
    delta = {"role": "assistant", "content": answer.text} | ({"tool_calls": calls} if calls else {})
    yield "", {**head, "choices": [{"index": 0, "delta": delta, "finish_reason": None}]}
    yield "", {**head, "choices": [{"index": 0, "delta": {}, "finish_reason": choice["finish_reason"]}]}
    yield "", {**head, "choices": [], "usage": done["usage"]}
    yield "", "[DONE]"
