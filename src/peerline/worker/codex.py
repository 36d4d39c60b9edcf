"""Codex as a worker: `codex app-server`, JSON-RPC over its input and output (spec/clients.md 4).

A steer goes into the turn that is under way. What goes in is its user's word to Codex, so the text itself says that it
is not.
"""

import json
from collections.abc import Mapping
from typing import Any, Final

from peerline import __version__
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

TOOLS: Final = frozenset(
    ["commandExecution", "mcpToolCall", "dynamicToolCall", "collabAgentToolCall", "webSearch", "imageGeneration"]
)
# Codex gives a server almost no environment: what `kxm mcp` needs to find the hub and its token.
HANDED_ON: Final = (
    "KXM_STATE_HOME",
    "XDG_STATE_HOME",
    "XDG_RUNTIME_DIR",
    "KXM_SOCKET_PATH",
    "KXM_AUTH_TOKEN",
    "KXM_ATTEMPT_TOKEN",
    "KXM_SESSION_TOKEN",
    "KXM_USER_CONFIG_DIR",
    "KXM_TOOLS",
)
NOBODY: Final = {"code": -32601, "message": "nobody is there to ask"}


class Codex:
    name = "codex"
    steers = True

    def __init__(self, plan: Plan, launch: Launch, seat: str) -> None:
        self._plan, self._launch, self._seat = plan, launch, seat
        self.out: list[dict[str, Any]] = []
        self._asked: dict[int, tuple[str, str]] = {}  # our request's number: its method, and the key of its text
        self._number = 0
        self._thread, self._turn, self._text = "", "", ""

    def command(self) -> list[str]:
        program, *words = self._plan.kxm
        server = {
            "command": program,
            "args": [*words, "mcp"],
            "env_vars": list(HANDED_ON),
            "default_tools_approval_mode": "approve",
        }
        told = [f"mcp_servers.kxm.{name}={json.dumps(value)}" for name, value in server.items()]
        told.append(f"mcp_servers.kxm.env={{KXM_WORKER_SEAT={json.dumps(self._seat)}}}")
        told.append('plugins."kxm@kxm".enabled=false')  # it would show each tool twice
        return [
            *self._plan.command,
            "app-server",
            *(word for one in told for word in ("-c", one)),
            *self._plan.arguments,
        ]

    def variables(self) -> dict[str, str]:
        return {}

    def open(self) -> None:
        self._ask("initialize", clientInfo={"name": "kxm-worker", "title": "KXM worker", "version": __version__})

    def feed(self, frame: Mapping[str, Any]) -> list[Happening]:
        method, number = frame.get("method"), frame.get("id")
        if isinstance(method, str):
            if number is not None:
                self.out.append({"id": number, "error": NOBODY})
                return []
            return self._noticed(method, _of(frame, "params"))
        if isinstance(number, int) and number in self._asked:
            return self._answered(*self._asked.pop(number), frame)
        return []

    def turn(self, key: str, text: str) -> None:
        self._text = ""
        self._ask("turn/start", key, threadId=self._thread, input=_input(text))

    def steer(self, key: str, text: str) -> None:
        self._ask("turn/steer", key, threadId=self._thread, expectedTurnId=self._turn, input=_input(text))

    def abort(self) -> None:
        self._ask("turn/interrupt", threadId=self._thread, turnId=self._turn)

    def _ask(self, method: str, key: str = "", **params: Any) -> None:
        self._number += 1
        self._asked[self._number] = (method, key)
        self.out.append({"id": self._number, "method": method, "params": params})

    def _answered(self, method: str, key: str, frame: Mapping[str, Any]) -> list[Happening]:
        error, result = frame.get("error"), _of(frame, "result")
        if error is not None:
            why = str(error.get("message") if isinstance(error, dict) else error)[:200]
            if method in ("initialize", "thread/start", "thread/resume"):
                return [Unresumable(why)]
            return [Declined(key, why)] if key else []
        match method:
            case "initialize":
                self.out.append({"method": "initialized"})
                self._begin_thread()
            case "thread/start" | "thread/resume":
                self._thread = str(_of(result, "thread").get("id"))
                return [Ready(self._thread)]
            case "turn/start":
                self._turn = str(_of(result, "turn").get("id"))
                return [Began(key)]
            case "turn/steer":
                return [Began(key)]
        return []

    def _begin_thread(self) -> None:
        settings: dict[str, Any] = {"cwd": str(self._plan.folder), "approvalPolicy": "never"}
        if self._launch.model:
            settings["model"] = self._launch.model
        if self._launch.resumes:
            self._ask("thread/resume", threadId=self._launch.session, excludeTurns=True, **settings)
        else:
            self._ask("thread/start", **settings)

    def _noticed(self, method: str, params: Mapping[str, Any]) -> list[Happening]:
        if params.get("threadId") != self._thread:
            return []  # a subagent's, or before there is a thread
        item = _of(params, "item")
        kind, name = item.get("type"), str(item.get("id"))
        match method:
            case "item/started" if kind in TOOLS:
                return [ToolBegan(name, str(item.get("tool") or kind))]
            case "item/completed" if kind in TOOLS:
                return [ToolEnded(name)]
            case "item/completed" if kind == "agentMessage":
                self._text = str(item.get("text") or "")
            case "turn/completed":
                return [self._settled(_of(params, "turn"))]
        return []

    def _settled(self, turn: Mapping[str, Any]) -> Settled:
        status = turn.get("status")
        if status == "completed":
            return Settled(self._text)
        why = str(_of(turn, "error").get("message") or status)[:200]
        return Settled("", ABORTED if status == "interrupted" else failure_class(why), why)


def _input(text: str) -> list[dict[str, Any]]:
    return [{"type": "text", "text": text}]


def _of(frame: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    value = frame.get(name)
    return value if isinstance(value, dict) else {}
