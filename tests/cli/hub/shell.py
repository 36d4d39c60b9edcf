"""`kxm hub …` as an operator types it."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hub_process import KXM, PATIENCE_S, environment


@dataclass(frozen=True, slots=True)
class Ran:
    code: int
    stdout: str
    stderr: str

    @property
    def refusal(self) -> tuple[int, str, str]:
        """Exit code, error and detail of a command that failed."""
        told = json.loads(self.stderr)
        assert told["ok"] is False
        return self.code, told["error"], told["detail"]

    @property
    def json(self) -> Any:
        return json.loads(self.stdout)


@dataclass(frozen=True, slots=True)
class Operator:
    home: Path

    @property
    def state(self) -> Path:
        return self.home / "state"

    def kxm(self, *words: str, **variables: str) -> Ran:
        ran = subprocess.run(
            [*KXM, *words],
            env=environment(self.home, **{"KXM_PORT": "0"} | variables),
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert "Traceback" not in ran.stderr, ran.stderr
        return Ran(ran.returncode, ran.stdout, ran.stderr)

    def hub(self, *words: str, **variables: str) -> Ran:
        return self.kxm("hub", *words, **variables)
