"""`kxm mcp` in a process of its own, spoken to line by line as a client does."""

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import IO, Any, Self

from tests.hub_process import KXM, PATIENCE_S, HubProcess, environment


class AgentSession:
    """One client session: answers by id, notifications in order; `home` is its user's."""

    def __init__(self, home: Path, hub: HubProcess | None, project: str, *, client: str = "claude-code", **env: str):
        variables = {"KXM_PROJECT": project, **env}
        if hub is not None:
            variables = {"KXM_SERVER_URL": hub.url, "KXM_AUTH_TOKEN": hub.admin} | variables
        self.env = {name: value for name, value in environment(home, **variables).items() if value}
        self.home, self.client = home, client
        self._number = 0
        self._answers: dict[Any, list[dict[str, Any]]] = {}
        self.pushed: list[dict[str, Any]] = []

    def spawn(self, *words: str) -> Self:
        self.process = subprocess.Popen(
            [*KXM, "mcp", *words],
            env=self.env,
            cwd=self.home,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        self._lines: queue.Queue[bytes] = queue.Queue()
        self.stderr = ""
        assert self.process.stdout is not None and self.process.stderr is not None  # noqa: PT018
        self._readers = [
            threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True),
            threading.Thread(target=self._read_errors, args=(self.process.stderr,), daemon=True),
        ]
        for reader in self._readers:
            reader.start()
        return self

    def open(self, *words: str) -> Self:
        """Start it, and introduce the client."""
        self.spawn(*words)
        self.introduction = self.ask("initialize", self.hello())
        self.notify("notifications/initialized")
        return self

    def hello(self, version: str = "2025-11-25") -> dict[str, Any]:
        about = {"name": self.client, "version": "1"}
        return {"protocolVersion": version, "capabilities": {}, "clientInfo": about}

    def write(self, data: bytes) -> None:
        assert self.process.stdin is not None
        self.process.stdin.write(data)
        self.process.stdin.flush()

    def notify(self, method: str, params: Mapping[str, Any] | None = None) -> None:
        self.write(json.dumps({"jsonrpc": "2.0", "method": method, "params": params or {}}).encode() + b"\n")

    def begin(self, method: str, params: Mapping[str, Any] | None = None) -> int:
        """Ask without waiting; the id to `answer` by."""
        self._number += 1
        line = {"jsonrpc": "2.0", "id": self._number, "method": method, "params": params or {}}
        self.write(json.dumps(line).encode() + b"\n")
        return self._number

    def answer(self, request_id: object) -> dict[str, Any]:
        """The whole answer to that request; what comes before it is kept."""
        while not self._answers.get(request_id):
            self._take()
        return self._answers[request_id].pop(0)

    def answered(self, request_id: object) -> bool:
        """Whether an answer to it has come, and was not taken."""
        return bool(self._answers.get(request_id))

    def ask(self, method: str, params: Mapping[str, Any] | None = None) -> Any:
        answer = self.answer(self.begin(method, params))
        assert "result" in answer, answer
        return answer["result"]

    def begin_call(self, tool: str, meta: Mapping[str, Any] | None = None, **arguments: Any) -> int:
        return self.begin("tools/call", {"name": tool, "arguments": arguments} | ({"_meta": meta} if meta else {}))

    def result(self, tool: str, meta: Mapping[str, Any] | None = None, **arguments: Any) -> dict[str, Any]:
        found: dict[str, Any] = self.answer(self.begin_call(tool, meta, **arguments))["result"]
        return found

    def call(self, tool: str, **arguments: Any) -> Any:
        """The JSON of a call that goes well."""
        result = self.result(tool, **arguments)
        assert not result.get("isError"), result
        return json.loads(result["content"][0]["text"])

    def refused(self, tool: str, **arguments: Any) -> str:
        """The text of a call that does not."""
        result = self.result(tool, **arguments)
        assert result["isError"] is True, result
        assert result["content"][0]["type"] == "text"
        text: str = result["content"][0]["text"]
        return text

    def push(self, method: str = "notifications/claude/channel") -> dict[str, Any]:
        """The parameters of the next notification of that method."""
        while not any(one["method"] == method for one in self.pushed):
            self._take()
        found = next(one for one in self.pushed if one["method"] == method)
        self.pushed.remove(found)
        params: dict[str, Any] = found["params"]
        return params

    def close(self) -> int:
        """End its input, as a client that leaves does; the exit code."""
        assert self.process.stdin is not None
        self.process.stdin.close()
        return self.ended()

    def signal(self, number: signal.Signals) -> int:
        os.kill(self.process.pid, number)
        return self.ended()

    def ended(self) -> int:
        code = self.process.wait(PATIENCE_S)
        for reader in self._readers:
            reader.join(PATIENCE_S)
        return code

    def stop(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.ended()
        for pipe in (self.process.stdin, self.process.stdout, self.process.stderr):
            if pipe is not None:
                try:
                    pipe.close()
                except OSError:
                    pass

    def _take(self) -> None:
        line = self._lines.get(timeout=PATIENCE_S)
        assert line, f"the server ended: {self.stderr}"
        message = json.loads(line)
        assert message["jsonrpc"] == "2.0"
        if "method" in message:
            self.pushed.append(message)
        else:
            self._answers.setdefault(message["id"], []).append(message)

    def _read(self, stdout: IO[bytes]) -> None:
        for line in stdout:
            self._lines.put(line)
        self._lines.put(b"")

    def _read_errors(self, stderr: IO[bytes]) -> None:
        for line in stderr:
            self.stderr += line.decode("utf-8", "replace")
