"""Claude Code as a worker: `claude -p` with stream-json in and out (spec/clients.md 3.6).

A message here is its user's word to Claude, so the text itself says that it is not. Each start names its messages anew:
one whose id stands in the history already would be taken for done.
"""

import json
from collections.abc import Mapping
from hashlib import sha256
from typing import Any, Final
from uuid import UUID

from peerline.worker.happenings import (
    ABORTED,
    Began,
    Happening,
    Ready,
    Settled,
    ToolBegan,
    ToolEnded,
    Unresumable,
    failure_class,
)
from peerline.worker.plan import Launch, Plan

HELLO: Final = "kxm-hello"
SERVER: Final = "kxm"
# The plugin would announce requests that the worker hands in, and show each tool twice.
SETTINGS: Final = {"enabledPlugins": {"kxm@kxm": False}}


class Claude:
    name = "claude"
    steers = False  # a message to a busy session may as well begin a turn of its own

    def __init__(self, plan: Plan, launch: Launch, seat: str) -> None:
        self._plan, self._launch, self._seat = plan, launch, seat
        self.out: list[dict[str, Any]] = []
        self._keys: dict[str, str] = {}
        self._ready = False

    def command(self) -> list[str]:
        plan, launch = self._plan, self._launch
        words = [*plan.command, "-p", "--input-format", "stream-json", "--output-format", "stream-json", "--verbose"]
        words += ["--resume" if launch.resumes else "--session-id", launch.session]
        words += ["--model", launch.model] if launch.model else []
        words += [
            "--mcp-config",
            json.dumps({"mcpServers": {SERVER: self._server()}}),
            "--settings",
            json.dumps(SETTINGS),
        ]
        if "--permission-mode" not in plan.arguments:
            words += ["--permission-mode", "dontAsk"]  # nobody is there to ask
        words += ["--tools", ",".join(plan.tools)] if plan.tools else []
        words += ["--allowedTools", ",".join((f"mcp__{SERVER}__*", *plan.tools))]
        return [*words, *plan.arguments]

    def variables(self) -> dict[str, str]:
        return {}

    def open(self) -> None:
        self.out.append({"type": "control_request", "request_id": HELLO, "request": {"subtype": "initialize"}})

    def feed(self, frame: Mapping[str, Any]) -> list[Happening]:
        match frame.get("type"):
            case "control_response" if _of(frame, "response").get("request_id") == HELLO:
                self._ready = True
                return [Ready(self._launch.session)]
            case "command_lifecycle" if frame.get("state") == "started":
                key = self._keys.get(str(frame.get("command_uuid")))
                return [] if key is None else [Began(key)]
            case "assistant":
                used = [part for part in _parts(frame) if part.get("type") == "tool_use"]
                return [ToolBegan(str(part.get("id")), str(part.get("name"))) for part in used]
            case "user":
                results = [part for part in _parts(frame) if part.get("type") == "tool_result"]
                return [ToolEnded(str(part.get("tool_use_id"))) for part in results]
            case "result":
                return [self._result(frame)]
        return []

    def turn(self, key: str, text: str) -> None:
        name = str(
            UUID(bytes=sha256(f"{self._launch.start}:{len(self._keys)}:{key}".encode()).digest()[:16], version=4)
        )
        self._keys[name] = key
        message = {"role": "user", "content": [{"type": "text", "text": text}]}
        self.out.append({"type": "user", "uuid": name, "message": message})

    def steer(self, key: str, text: str) -> None:
        raise AssertionError("steers is False: never asked for")

    def abort(self) -> None:
        self.out.append({"type": "control_request", "request_id": "kxm-abort", "request": {"subtype": "interrupt"}})

    def _server(self) -> dict[str, Any]:
        program, *words = self._plan.kxm
        return {
            "command": program,
            "args": [*words, "mcp"],
            "env": {"KXM_WORKER_SEAT": self._seat},
            "alwaysLoad": True,
        }

    def _result(self, frame: Mapping[str, Any]) -> Happening:
        text = frame.get("result")
        text = text if isinstance(text, str) else ""
        if frame.get("is_error") is not True:
            return Settled(text)
        errors = frame.get("errors")
        why = (text or " ".join(map(str, errors if isinstance(errors, list) else [])) or str(frame.get("subtype")))[
            :200
        ]
        if not self._ready:
            return Unresumable(why)
        if str(frame.get("terminal_reason")).startswith("aborted"):
            return Settled("", ABORTED, why)
        return Settled("", failure_class(why), why)


def _of(frame: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = frame.get(name)
    return value if isinstance(value, dict) else {}


def _parts(frame: Mapping[str, Any]) -> list[dict[str, Any]]:
    content = _of(frame, "message").get("content")
    return [part for part in content if isinstance(part, dict)] if isinstance(content, list) else []
