"""Pi in rpc mode with a home of its own, the extension of this checkout, and a scripted model."""

import json
import queue
import subprocess
import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import IO, Any, Final, Self

from tests.clients.install import PI
from tests.clients.model.endpoint import Endpoint
from tests.house.tracked import ROOT
from tests.hub_process import PATIENCE_S, HubProcess, environment

EXTENSION: Final = ROOT / "plugins" / "pi"
MODEL: Final = "scripted"


@dataclass
class Pi:
    """`with Pi(...) as pi:` is one session; leaving closes its input, which is how its user ends it."""

    home: Path
    hub: HubProcess
    model: Endpoint
    name: str = "builder"
    project: str = "shop"
    seen: list[dict[str, Any]] = field(default_factory=list)
    _process: "subprocess.Popen[bytes] | None" = None
    _events: "queue.Queue[dict[str, Any] | None]" = field(default_factory=queue.Queue)

    def __enter__(self) -> Self:
        folder = self.home / "shop"
        folder.mkdir(parents=True, exist_ok=True)
        settings = self.home / ".pi/agent/models.json"
        settings.parent.mkdir(parents=True, exist_ok=True)
        api = {"baseUrl": f"{self.model.url}/v1", "api": "openai-completions", "apiKey": "dummy"}
        settings.write_text(json.dumps({"providers": {"scripted": {**api, "models": [{"id": MODEL}]}}}))
        variables = {
            "PI_OFFLINE": "1",
            "KXM_STATE_HOME": self.hub.environment["KXM_STATE_HOME"],
            "KXM_SERVER_URL": self.hub.url,
            "KXM_AGENT_NAME": self.name,
            "KXM_PROJECT": self.project,
        }
        words = ["--mode", "rpc", "--no-session", "--provider", "scripted", "--model", MODEL]
        known = {**environment(self.home), **variables}
        subprocess.run([*PI.command, "install", str(EXTENSION)], cwd=folder, env=known, check=True, timeout=PATIENCE_S)
        self._errors = (self.home / "pi.stderr").open("ab")
        self._process = subprocess.Popen(
            [*PI.command, *words],
            cwd=folder,
            env=known,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=self._errors,
        )
        assert self._process.stdout is not None
        self._reader = threading.Thread(target=self._read, args=(self._process.stdout,), daemon=True)
        self._reader.start()
        return self

    def __exit__(self, *_: object) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.close()
        try:
            self._process.wait(PATIENCE_S)
        finally:
            self.kill()

    def kill(self) -> None:
        """`kill -9`; its end is waited for."""
        assert self._process is not None
        self._process.kill()
        self._process.wait(PATIENCE_S)
        self._reader.join(PATIENCE_S)
        self._errors.close()

    def prompt(self, text: str) -> None:
        """What its user types."""
        self._command({"type": "prompt", "message": text, "streamingBehavior": "followUp"})

    def abort(self) -> None:
        """Its user's Escape."""
        self._command({"type": "abort"})

    def _command(self, command: dict[str, Any]) -> None:
        assert self._process is not None
        assert self._process.stdin is not None
        self._process.stdin.write(json.dumps(command).encode() + b"\n")
        self._process.stdin.flush()

    def until(self, fits: Callable[[dict[str, Any]], bool]) -> dict[str, Any]:
        """The next event that fits, waited for."""
        while True:
            event = self._events.get(timeout=PATIENCE_S)
            assert event is not None, (self.home / "pi.stderr").read_text()
            self.seen.append(event)
            if fits(event):
                return event

    def _read(self, stdout: IO[bytes]) -> None:
        for line in stdout:
            if line.startswith(b"{"):
                self._events.put(json.loads(line))
        self._events.put(None)
