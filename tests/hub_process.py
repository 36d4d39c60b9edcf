"""A real hub in its own process, and a raw HTTP and SSE client small enough to see every byte of the contract."""

import json
import os
import queue
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Self

ADMIN = "admin-token-of-the-tests-0001"
FRAME_S = 75.0  # the same for one frame of a stream that lives on
PATIENCE_S = 45.0  # an upper bound for a loaded machine, never a figure that a test measures
KXM = (sys.executable, "-m", "peerline.cli.hot", "kxm")

Address = tuple[str, int] | str
"""Host and port, or the path of a Unix socket."""


def environment(home: Path, **variables: str) -> dict[str, str]:
    """A user with an empty home on this machine: nothing of the developer's own settings reaches the process."""
    home.mkdir(parents=True, exist_ok=True)
    kept = {
        name: os.environ[name] for name in ("PATH", "PYTHONPATH", "LD_LIBRARY_PATH", "TMPDIR") if name in os.environ
    }
    return {**kept, "HOME": str(home), "KXM_STATE_HOME": str(home / "state"), "LC_ALL": "C.UTF-8", **variables}


@dataclass(frozen=True, slots=True)
class Answer:
    """One HTTP response as it came."""

    status: int
    headers: tuple[tuple[str, str], ...]
    body: bytes

    def header(self, name: str) -> str | None:
        values = [value for key, value in self.headers if key == name]
        assert len(values) <= 1, f"{name} came {len(values)} times"
        return values[0] if values else None

    @property
    def json(self) -> Any:
        return json.loads(self.body)

    @property
    def refusal(self) -> tuple[int, str, str]:
        """Status, code and text of an error: what a caller can act on."""
        return self.status, self.json["code"], self.json["error"]

    @property
    def code(self) -> str:
        return str(self.json["code"])


class Connection:
    """One connection, on which raw bytes are written and responses read one after another."""

    def __init__(self, address: Address) -> None:
        if isinstance(address, str):
            self.socket = socket.socket(socket.AF_UNIX)
            self.socket.settimeout(PATIENCE_S)
            self.socket.connect(address)
        else:
            self.socket = socket.create_connection(address, timeout=PATIENCE_S)
        self._bytes = self.socket.makefile("rb")

    def write(self, data: bytes) -> None:
        self.socket.sendall(data)

    def head(self) -> tuple[int, tuple[tuple[str, str], ...]]:
        first = self._bytes.readline().decode("latin-1")
        assert first.startswith("HTTP/1.1 "), f"no response: {first!r}"
        headers: list[tuple[str, str]] = []
        while line := self._bytes.readline().decode("latin-1").rstrip("\r\n"):
            name, _, value = line.partition(":")
            headers.append((name.strip().lower(), value.strip()))
        return int(first.split(" ")[1]), tuple(headers)

    def answer(self) -> Answer:
        status, headers = self.head()
        length = next((int(value) for name, value in headers if name == "content-length"), None)
        if length is not None:
            body = self._bytes.read(length)
            assert len(body) == length, "the body ended early"
        else:
            body = b"" if status == 204 else b"".join(self.pieces(headers))
        return Answer(status, headers, body)

    def pieces(self, headers: tuple[tuple[str, str], ...]) -> Any:
        """The lines of a body without a length: chunked, or until the connection ends."""
        if ("transfer-encoding", "chunked") not in headers:
            yield from self._bytes
            return
        rest = b""
        while size := int(self._bytes.readline().split(b";")[0] or b"0", 16):
            rest += self._bytes.read(size)
            self._bytes.readline()
            *lines, rest = rest.split(b"\n")
            yield from (line + b"\n" for line in lines)
        if rest:
            yield rest

    @property
    def ended(self) -> bool:
        """Wait for the other side to close; False when more bytes come instead."""
        return self._bytes.read(1) == b""

    def close(self) -> None:
        self._bytes.close()
        self.socket.close()


@dataclass(frozen=True, slots=True)
class Frame:
    """One SSE frame; `lines` is what stood on the wire, `id` the resume token."""

    kind: str
    data: Any
    id: str | None
    lines: tuple[str, ...]

    @property
    def message(self) -> Any:
        return self.data["message"]


class Stream:
    """An open push stream. `status` other than 200: `refused` holds the answer, and there are no frames."""

    def __init__(self, address: Address, raw: bytes) -> None:
        self._connection = Connection(address)
        self._connection.write(raw)
        self.status, self.headers = self._connection.head()
        self._pieces = self._connection.pieces(self.headers)
        self.seen: list[Frame] = []

    def header(self, name: str) -> str | None:
        return next((value for key, value in self.headers if key == name), None)

    def refused(self) -> Any:
        length = int(self.header("content-length") or 0)
        return json.loads(self._connection._bytes.read(length))

    def frame(self, end: float | None = None) -> Frame:
        """The next frame, whatever it is; comments are skipped. `end` bounds the wait, on the monotonic clock."""
        lines: list[str] = []
        for raw in self._pieces:
            if end is not None and time.monotonic() > end:
                raise TimeoutError(f"it did not come; seen: {[frame.kind for frame in self.seen]}")
            line = raw.decode("utf-8").rstrip("\r\n")
            if line and not line.startswith(":"):
                lines.append(line)
            elif not line and lines:
                break
        else:
            raise EOFError(f"the stream ended; seen: {[frame.kind for frame in self.seen]}")
        fields = [line.partition(": ")[::2] for line in lines]
        data = [value for name, value in fields if name == "data"]
        assert len(data) == 1, f"data must be one line: {lines}"
        found = Frame(
            kind=next(value for name, value in fields if name == "event"),
            data=json.loads(data[0]),
            id=next((value for name, value in fields if name == "id"), None),
            lines=tuple(lines),
        )
        self.seen.append(found)
        return found

    def next(self, *kinds: str) -> Frame:
        """The next frame of one of `kinds`; others are passed over and stay in `seen`.

        Raises:
            TimeoutError: the stream lives (heartbeats would keep it open for ever), and no such frame came.
        """
        end = time.monotonic() + FRAME_S
        while (found := self.frame(end)).kind not in kinds:
            pass
        return found

    def messages_until(self, message_id: str) -> list[str]:
        """The ids of the `message` frames up to and with this one: a barrier instead of a wait for silence."""
        ids: list[str] = []
        while message_id not in ids:
            ids.append(self.next("message").message["id"])
        return ids

    def close(self) -> None:
        self._connection.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()


class HubProcess:
    """`kxm hub start` in a temporary home, on a free port. The same home can be started again."""

    command: tuple[str, ...] = (*KXM, "hub", "start")

    def __init__(self, home: Path, **variables: str) -> None:
        self.home = home
        # What stops two agents that only talk to each other stops most tests too; those about it set it anew.
        defaults = {
            "KXM_PORT": "0", "KXM_AUTH_TOKEN": ADMIN, "KXM_RATE_LIMIT_MAX": "1000000", "KXM_PAIR_LIMIT": "0",
        }  # fmt: skip
        self.environment = environment(home, **(defaults | variables))
        self.admin = self.environment["KXM_AUTH_TOKEN"]
        self.lines: list[str] = []
        self.url = ""
        self.storage = ""
        self.address: tuple[str, int] = ("", 0)
        self._streams: list[Stream] = []

    def start(self) -> Self:
        self._errors = (self.home / "hub.stderr").open("ab")
        self.process = subprocess.Popen(
            self.command,
            env=self.environment,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        first: queue.Queue[str] = queue.Queue()
        assert self.process.stdout is not None
        self._reader = threading.Thread(target=self._drain, args=(self.process.stdout, first), daemon=True)
        self._reader.start()
        line = first.get(timeout=PATIENCE_S)
        if not line.startswith("kxm hub listening at "):
            self.stop()
            raise AssertionError(f"the hub did not start: {line!r} {self.errors}")
        self.url = line.removeprefix("kxm hub listening at ").split(";")[0]
        self.storage = line.split("storage=")[1].split(";")[0]
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        self.address = (host, int(port))
        return self

    def _drain(self, stdout: IO[bytes], first: queue.Queue[str]) -> None:
        for raw in stdout:
            self.lines.append(raw.decode("utf-8").rstrip("\n"))
            first.put(self.lines[-1])
        first.put("")

    @property
    def errors(self) -> str:
        return (self.home / "hub.stderr").read_text(encoding="utf-8", errors="replace")

    def stop(self, how: signal.Signals = signal.SIGTERM) -> int:
        """End the process and wait for it; its exit code."""
        for stream in self._streams:
            stream.close()
        self._streams.clear()
        if self.process.poll() is None:
            self.process.send_signal(how)
        try:
            code = self.process.wait(timeout=PATIENCE_S)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
            raise
        self._reader.join(timeout=PATIENCE_S)
        self._errors.close()
        return code

    def raw(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> bytes:
        """The bytes of a request. A dict becomes JSON, bytes go as they are; a header of "" is left out."""
        given = {"host": f"{self.address[0]}:{self.address[1]}", "connection": "close"}
        if body is not None or method == "POST":
            given["content-type"] = "application/json"
        payload = body if isinstance(body, bytes) else b"" if body is None else json.dumps(body).encode()
        if payload or method == "POST":
            given["content-length"] = str(len(payload))
        given |= headers or {}
        lines = [f"{method} {path} HTTP/1.1", *(f"{name}: {value}" for name, value in given.items() if value)]
        return "\r\n".join([*lines, "", ""]).encode("utf-8") + payload

    def call(
        self,
        method: str,
        path: str,
        body: object = None,
        headers: Mapping[str, str] | None = None,
        address: Address | None = None,
    ) -> Answer:
        connection = Connection(address or self.address)
        try:
            connection.write(self.raw(method, path, body, headers))
            return connection.answer()
        finally:
            connection.close()

    def admin_call(self, method: str, path: str, body: object = None) -> Answer:
        return self.call(method, path, body, {"authorization": f"Bearer {self.admin}"})

    def stream(self, path: str, headers: Mapping[str, str]) -> Stream:
        found = Stream(self.address, self.raw("GET", path, headers={"connection": "keep-alive", **headers}))
        self._streams.append(found)
        return found


@dataclass(frozen=True, slots=True)
class Project:
    """A project of a hub, as one who knows its token sees it."""

    hub: HubProcess
    name: str
    token: str

    @property
    def bearer(self) -> dict[str, str]:
        return {"authorization": f"Bearer {self.token}"}

    def try_register(self, name: object, **fields: object) -> Answer:
        body = {"name": name, "project": self.name, **fields}
        return self.hub.call("POST", "/v1/agents/register", body, self.bearer)

    def register(self, name: str, **fields: object) -> "Agent":
        answer = self.try_register(name, **fields)
        assert answer.status in (200, 201), answer.body
        return Agent(self, answer.json["agent"]["id"], name, answer.json["agentKey"], answer)


@dataclass(frozen=True, slots=True)
class Agent:
    """A registered agent: its calls carry the project's token, its id and its key."""

    project: Project
    id: str
    name: str
    key: str
    registered: Answer = field(repr=False)

    @property
    def headers(self) -> dict[str, str]:
        return {**self.project.bearer, "x-kxm-agent-id": self.id, "x-kxm-agent-key": self.key}

    def call(self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None) -> Answer:
        return self.project.hub.call(method, path, body, {**self.headers, **(headers or {})})

    def try_send(self, target: object, content: object = "look at this", **fields: object) -> Answer:
        return self.call("POST", "/v1/messages", {"target": target, "content": content, **fields})

    def send(self, target: str, content: str = "look at this", **fields: object) -> Any:
        """Send, and return the new message's record."""
        answer = self.try_send(target, content, **fields)
        assert answer.status == 202, answer.body
        return answer.json["message"]

    def get(self, message_id: str) -> Any:
        answer = self.call("GET", f"/v1/messages/{message_id}")
        assert answer.status == 200, answer.body
        return answer.json["message"]

    def wait(self, message_id: str, wait_ms: int = 40_000) -> Any:
        """The record once it is final, or once the hub's wait has ended."""
        answer = self.call("GET", f"/v1/messages/{message_id}?waitMs={wait_ms}")
        assert answer.status == 200, answer.body
        return answer.json["message"]

    def until_expired(self, message_id: str) -> Any:
        """The record once the hub's clock has passed its TTL: each look comes after a wait of the hub's own."""
        for _ in range(200):
            if (found := self.wait(message_id, 300))["status"] not in ("queued", "delivered"):
                break
        assert found["status"] == "expired"
        return found

    def acknowledge(self, message_id: str) -> Answer:
        return self.call("POST", f"/v1/messages/{message_id}/ack", {})

    def reply(self, message_id: str, content: object = "done") -> Answer:
        return self.call("POST", f"/v1/messages/{message_id}/reply", {"content": content})

    def cancel(self, message_id: str) -> Answer:
        return self.call("DELETE", f"/v1/messages/{message_id}")

    def inbox(self) -> Any:
        answer = self.call("GET", f"/v1/agents/{self.id}/inbox")
        assert answer.status == 200, answer.body
        return answer.json["messages"]

    def leave(self) -> None:
        assert self.call("DELETE", f"/v1/agents/{self.id}").status == 204

    def stream(self, query: str = "", headers: Mapping[str, str] | None = None) -> Stream:
        """An open stream whose `ready` frame has been read."""
        found = self.project.hub.stream(f"/v1/events?agentId={self.id}{query}", {**self.headers, **(headers or {})})
        assert found.status == 200, found.refused()
        assert found.frame().kind == "ready"
        return found
