"""Pi as a worker: `pi --mode rpc` (spec/hub.md 10.2, spec/clients.md 5).

A request goes in by a command of our extension, so that it is a message of the extension and not its user's words.
"""

import json
from base64 import b64encode
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Final

from peerline.worker.happenings import (
    ABORTED,
    Began,
    Declined,
    Happening,
    Ready,
    Settled,
    ToolBegan,
    ToolEnded,
    Unresumable,
    failure_class,
)
from peerline.worker.plan import Launch, Plan

EXTENSION: Final = Path(__file__).with_name("pi_extension.ts")
COMMAND: Final = "kxm-turn"
TYPE: Final = "kxm-inbound"
LOOK: Final = "kxm-commands"


class Pi:
    name = "pi"
    steers = False  # one request at a time; a steer is the next one

    def __init__(self, plan: Plan, launch: Launch, seat: str) -> None:
        self._plan, self._launch, self._seat = plan, launch, seat
        self.out: list[dict[str, Any]] = []
        self._text, self._why = "", ""
        self._failure: str | None = None

    def command(self) -> list[str]:
        plan, launch = self._plan, self._launch
        words = [*plan.command, "--mode", "rpc", "--name", launch.label]
        words += ["--session-dir", str(launch.sessions), "--session-id", launch.session]
        words += ["--model", launch.model] if launch.model else []
        words += ["--tools", ",".join(plan.tools)] if plan.tools else []
        words += ["--no-extensions"] if plan.extensions else []
        words += [word for path in (*plan.extensions, str(EXTENSION)) for word in ("--extension", path)]
        words += ["--no-skills"] if plan.skills else []
        words += [word for path in plan.skills for word in ("--skill", path)]
        return [*words, *plan.arguments]

    def variables(self) -> dict[str, str]:
        return {"KXM_WORKER_KXM": json.dumps(self._plan.kxm)}

    def open(self) -> None:
        self.out.append({"id": LOOK, "type": "get_commands"})

    def feed(self, frame: Mapping[str, Any]) -> list[Happening]:
        match frame.get("type"):
            case "response":
                return self._answered(frame)
            case "message_start" if _of(frame).get("customType") == TYPE:
                self._text, self._failure, self._why = "", None, ""
                key = _details(_of(frame)).get("key")
                return [Began(key)] if isinstance(key, str) else []
            case "message_end" if _of(frame).get("role") == "assistant":
                self._said(_of(frame))
            case "tool_execution_start":
                return [ToolBegan(str(frame.get("toolCallId")), str(frame.get("toolName")))]
            case "tool_execution_end":
                return [ToolEnded(str(frame.get("toolCallId")))]
            case "agent_settled":
                failure = ABORTED if frame.get("aborted") is True else self._failure
                return [Settled(self._text, failure, self._why)]
        return []

    def turn(self, key: str, text: str) -> None:
        # base64: what a command gets as arguments is one line, and Pi expands nothing in it
        told = b64encode(json.dumps({"key": key, "content": text}).encode()).decode()
        self.out.append({"id": key, "type": "prompt", "message": f"/{COMMAND} {told}"})

    def steer(self, key: str, text: str) -> None:
        raise AssertionError("steers is False: never asked for")

    def abort(self) -> None:
        self.out += [{"type": "clear_queue"}, {"type": "abort"}]

    def _answered(self, frame: Mapping[str, Any]) -> list[Happening]:
        name, well = frame.get("id"), frame.get("success") is True
        if name == LOOK:
            commands = (frame.get("data") or {}).get("commands") or []
            if any(command.get("name") == COMMAND for command in commands):
                return [Ready(self._launch.session)]
            return [Unresumable("Pi did not load the worker's extension")]
        if isinstance(name, str) and frame.get("command") == "prompt" and not well:
            return [Declined(name, str(frame.get("error"))[:200])]
        return []

    def _said(self, message: Mapping[str, Any]) -> None:
        parts = message.get("content") or []
        texts = [part.get("text", "") for part in parts if isinstance(part, dict) and part.get("type") == "text"]
        self._text = "\n".join(texts)
        reason = message.get("stopReason")
        self._why = str(message.get("errorMessage") or "")[:200]
        self._failure = ABORTED if reason == "aborted" else failure_class(self._why) if reason == "error" else None


def _of(frame: Mapping[str, Any]) -> Mapping[str, Any]:
    message = frame.get("message")
    return message if isinstance(message, dict) else {}


def _details(message: Mapping[str, Any]) -> Mapping[str, Any]:
    details = message.get("details")
    return details if isinstance(details, dict) else {}
