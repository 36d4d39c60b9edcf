"""`kxm agent worker` around a real client, as a process of its own that a test can stop, or kill -9."""

import json
import os
import queue
import signal
import subprocess
import threading
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, Self

from tests.clients.model.holding import Holding
from tests.hub_process import KXM, PATIENCE_S, Agent

BODY: Final = "Is 7 prime? The body of a request."


@dataclass
class Worker:
    """`with Worker(...) as worker:`; its log is read from its output, as a supervisor above it would."""

    environment: Mapping[str, str]
    folder: Path
    words: tuple[str, ...]
    events: list[dict[str, Any]] = field(default_factory=list)
    first: str = ""
    _lines: "queue.Queue[str | None]" = field(default_factory=queue.Queue)

    def __enter__(self) -> Self:
        self._errors = (self.folder / "worker.stderr").open("ab")
        self.process = subprocess.Popen(
            [*KXM, "agent", "worker", *self.words],
            cwd=self.folder,
            env=dict(self.environment),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        assert self.process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self.process.stdout,), daemon=True)
        self._reader.start()
        self.first = self._lines.get(timeout=PATIENCE_S) or ""
        assert self.first.startswith("kxm agent worker: "), self.errors
        return self

    def __exit__(self, *_: object) -> None:
        if self.process.poll() is None:
            self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(PATIENCE_S)
        finally:
            self._end()

    @property
    def errors(self) -> str:
        return (self.folder / "worker.stderr").read_text()

    def until(self, event: str, **members: object) -> dict[str, Any]:
        """The next event of its log with that name and these members, waited for."""
        while True:
            found = self.next()
            if found["event"] == event and all(found.get(name) == value for name, value in members.items()):
                return found

    def next(self) -> dict[str, Any]:
        """The next event of its log."""
        line = self._lines.get(timeout=PATIENCE_S)
        assert line is not None, f"the worker ended: {self.events} {self.errors}"
        found: dict[str, Any] = json.loads(line)
        self.events.append(found)
        return found

    @property
    def child(self) -> int:
        """The process of the newest start that its log tells of."""
        while not any(event["event"] == "worker_starting" for event in self.events) or not self._lines.empty():
            self.next()
        pid: int = [event for event in self.events if event["event"] == "worker_starting"][-1]["childPid"]
        return pid

    @property
    def log(self) -> Path:
        """The file that it named as it began."""
        return Path(self.first.partition("log=")[2].partition(";")[0])

    def kill(self) -> None:
        """`kill -9` of the supervisor alone."""
        self.process.kill()
        self._end()

    def _end(self) -> None:
        if self.process.poll() is None:
            self.process.kill()
        self.process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        self._errors.close()

    def _read(self, stdout: IO[bytes]) -> None:
        for line in stdout:
            self._lines.put(line.decode())
        self._lines.put(None)


def ask(lead: Agent, body: str = BODY, delivery: str = "followUp") -> str:
    """A request to the worker, which may still be starting."""
    answer = lead.try_send("builder", body, delivery=delivery)
    while answer.status != 202:
        assert answer.json["code"] == "target_not_found"
        answer = lead.try_send("builder", body, delivery=delivery)
    return str(answer.json["message"]["id"])


def kill(pid: int) -> None:
    """`kill -9` of one process."""
    os.kill(pid, signal.SIGKILL)


def until(holds: Callable[[], bool], lead: Agent, message_id: str) -> None:
    """Each look comes after a wait of the hub's own."""
    for _ in range(200):
        if holds():
            return
        lead.wait(message_id, 200)
    raise AssertionError("it did not come to that")


def begun(lead: Agent, held: Holding, body: str = BODY) -> str:
    """A request whose turn the model holds; the hub knows that the worker has it."""
    sent = ask(lead, body)
    held.begun()
    until(lambda: lead.get(sent)["status"] == "delivered", lead, sent)
    return sent


def facts(lead: Agent, message_id: str) -> list[str]:
    return [fact["fact"] for fact in lead.call("GET", f"/v1/messages/{message_id}/trail").json["facts"]]
