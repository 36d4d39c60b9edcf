"""The Gemini format: how Gemini CLI asks. The model's name and the way to answer stand in the path."""

import itertools
from collections.abc import Iterator
from typing import Any, Final

from tests.clients.model.conversation import Answer, Conversation, Turn

PATH: Final = "/v1beta/models/"
STREAMED: Final = ":streamGenerateContent"
_numbers = itertools.count(1)


def parse(asked: dict[str, Any]) -> Conversation:
    groups = asked.get("tools") or ()
    return Conversation(
        system=_text((asked.get("systemInstruction") or {}).get("parts")),
        model=str(asked.get("model", "")),
        tools=tuple(tool["name"] for group in groups for tool in group.get("functionDeclarations") or ()),
        turns=tuple(_turn(content) for content in asked.get("contents") or ()),
    )


def _turn(content: dict[str, Any]) -> Turn:
    parts = content.get("parts") or ()
    return Turn(
        role="assistant" if content.get("role") == "model" else "user",
        text=_text(parts),
        results=tuple(_result(part["functionResponse"]) for part in parts if "functionResponse" in part),
        calls=tuple(part["functionCall"]["name"] for part in parts if "functionCall" in part),
    )


def _result(answer: dict[str, Any]) -> str:
    return "\n".join(_strings(answer.get("response")))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, (dict, list)):
        for inner in value.values() if isinstance(value, dict) else value:
            yield from _strings(inner)


def _text(parts: Any) -> str:
    return "\n".join(part["text"] for part in parts or () if "text" in part)


def whole(answer: Answer, conversation: Conversation) -> dict[str, Any]:
    """The answer as one object."""
    parts: list[dict[str, Any]] = [{"text": answer.text}] if answer.text or not answer.calls else []
    for call in answer.calls:
        parts.append({"functionCall": {"name": conversation.tool(call.name), "args": call.arguments}})
    return {
        "responseId": f"response_{next(_numbers):06d}",
        "candidates": [{"content": {"role": "model", "parts": parts}, "finishReason": "STOP", "index": 0}],
        "usageMetadata": {"promptTokenCount": 10, "candidatesTokenCount": 5, "totalTokenCount": 15},
    }


def stream(answer: Answer, conversation: Conversation) -> Iterator[tuple[str, dict[str, Any]]]:
    """The same as the only piece."""
    yield "", whole(answer, conversation)
