"""An operator's shell: real `kxm peer` processes with the seed's variables set, in a home of their own."""

import json
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.hub_process import KXM, PATIENCE_S, Project, environment


@dataclass(frozen=True, slots=True)
class Printed:
    code: int
    stdout: str
    stderr: str

    @property
    def json(self) -> Any:
        assert self.code == 0, self.stderr
        return json.loads(self.stdout)

    @property
    def detail(self) -> str:
        """The hub's text of a command that failed as the seed shows it."""
        assert (self.code, self.stdout) == (1, ""), (self.code, self.stdout, self.stderr)
        told = json.loads(self.stderr)
        assert (told["ok"], told["error"]) == (False, "command_failed")
        return str(told["detail"])


@dataclass(frozen=True, slots=True)
class Shell:
    """`peer` runs one command as `name`, or as nobody in particular when it is empty."""

    home: Path
    project: Project
    name: str = ""

    def variables(self) -> dict[str, str]:
        own = {"KXM_AGENT_NAME": self.name} if self.name else {}
        return environment(
            self.home,
            KXM_SERVER_URL=self.project.hub.url,
            KXM_AUTH_TOKEN=self.project.token,
            KXM_PROJECT=self.project.name,
            **own,
        )

    def command(self, *words: str) -> list[str]:
        return [*KXM, "peer", *words]

    def peer(self, *words: str, **variables: str) -> Printed:
        ran = subprocess.run(
            self.command(*words),
            env={**self.variables(), **variables},
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
            check=False,
        )
        assert "Traceback" not in ran.stderr, ran.stderr
        return Printed(ran.returncode, ran.stdout, ran.stderr)

    def start(self, *words: str) -> "subprocess.Popen[str]":
        """Start a command and let it run; its output comes from `communicate`."""
        return subprocess.Popen(
            self.command(*words),
            env=self.variables(),
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
