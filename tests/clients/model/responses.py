"""The Responses format: how Codex asks. Tools of an MCP server come as one group, under the server's name."""

import itertools
import json
from collections.abc import Iterator
from typing import Any, Final

from tests.clients.model.conversation import Answer, Conversation, Turn

PATH: Final = "/v1/responses"
_GROUP: Final = "::"
_CALLS: Final = ("function_call", "custom_tool_call", "local_shell_call")
_RESULTS: Final = ("function_call_output", "custom_tool_call_output")
_numbers = itertools.count(1)


def parse(asked: dict[str, Any]) -> Conversation:
    given = asked.get("input") or []
    items = [{"type": "message", "role": "user", "content": given}] if isinstance(given, str) else given
    turns = [turn for item in items if (turn := _turn(item)) is not None]
    return Conversation(
        system=str(asked.get("instructions") or ""),
        model=str(asked.get("model", "")),
        tools=tuple(_names(asked.get("tools") or ())),
        turns=tuple(_merged(turns)),
    )


def _names(tools: Any) -> Iterator[str]:
    for tool in tools:
        if tool.get("type") == "namespace":
            yield from (f"{tool['name']}{_GROUP}{inner['name']}" for inner in tool.get("tools") or ())
        elif "name" in tool:
            yield tool["name"]


def _turn(item: dict[str, Any]) -> Turn | None:
    kind = item.get("type", "message")
    if kind == "message":
        return Turn(item["role"], _text(item.get("content")))
    if kind in _CALLS:
        return Turn("assistant", calls=(str(item.get("name")),))
    return Turn("user", results=(_text(item.get("output")),)) if kind in _RESULTS else None


def _merged(turns: list[Turn]) -> Iterator[Turn]:
    """What the model said and called in one answer comes as several items."""
    for speaks, group in itertools.groupby(turns, key=lambda turn: turn.role == "assistant"):
        if speaks:
            said = list(group)
            text = "\n".join(turn.text for turn in said if turn.text)
            yield Turn("assistant", text, calls=tuple(call for turn in said for call in turn.calls))
        else:
            yield from group


def _text(content: Any) -> str:
    if isinstance(content, str):
        return content
    return "\n".join(part["text"] for part in content or () if isinstance(part, dict) and "text" in part)


def whole(answer: Answer, conversation: Conversation) -> dict[str, Any]:
    """The answer as one object."""
    output: list[dict[str, Any]] = []
    if answer.text or not answer.calls:
        content = [{"type": "output_text", "text": answer.text, "annotations": []}]
        output.append({"type": "message", "role": "assistant", "content": content} | _identity("msg"))
    for call in answer.calls:
        group, _, name = conversation.tool(call.name).rpartition(_GROUP)
        item = {"type": "function_call", "name": name, "arguments": json.dumps(call.arguments)}
        item |= {"call_id": f"call_{next(_numbers):06d}"} | ({"namespace": group} if group else {})
        output.append(item | _identity("fc"))
    return {
        "id": f"resp_{next(_numbers):06d}",
        "object": "response",
        "created_at": 0,
        "status": "completed",
        "model": conversation.model,
        "output": output,
        "parallel_tool_calls": True,
        "tool_choice": "auto",
        "tools": [],
        "usage": {
            "input_tokens": 10,
            "input_tokens_details": {"cached_tokens": 0},
            "output_tokens": 5,
            "output_tokens_details": {"reasoning_tokens": 0},
            "total_tokens": 15,
        },
    }


def _identity(prefix: str) -> dict[str, str]:
    return {"id": f"{prefix}_{next(_numbers):06d}", "status": "completed"}


def stream(answer: Answer, conversation: Conversation) -> Iterator[tuple[str, dict[str, Any]]]:
    """The same as numbered events."""
    done = whole(answer, conversation)
    events: list[dict[str, Any]] = [
        {"type": "response.created", "response": {**done, "status": "in_progress", "output": [], "usage": None}}
    ]
    for index, item in enumerate(done["output"]):
        place = {"output_index": index}
        events.append({"type": "response.output_item.added", "item": {**item, "status": "in_progress"}, **place})
        if item["type"] == "message":
            (part,) = item["content"]
            here = {"item_id": item["id"], "content_index": 0, **place}
            events.append({"type": "response.output_text.delta", "delta": part["text"], **here})
            events.append({"type": "response.output_text.done", "text": part["text"], **here})
        else:
            here = {"item_id": item["id"], **place}
            events.append({"type": "response.function_call_arguments.done", "arguments": item["arguments"], **here})
        events.append({"type": "response.output_item.done", "item": item, **place})
    events.append({"type": "response.completed", "response": done})
    for number, event in enumerate(events):
        yield event["type"], {**event, "sequence_number": number}
