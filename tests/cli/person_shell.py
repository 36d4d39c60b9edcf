"""A person's shell beside a real hub: runs `peerline`, and agents of the same project by HTTP."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.hub_process import PATIENCE_S, Agent, HubProcess, Project, environment

PEERLINE = (sys.executable, "-m", "peerline.cli.hot", "peerline")


class Shell:
    """`variables` win; the hub, if any, is reached over its socket, as on one machine."""

    def __init__(self, home: Path, hub: HubProcess | None = None, project: str = "shop", **variables: str) -> None:
        given = {"KXM_PROJECT": project, "KXM_AGENT_NAME": "ada", **variables}
        if hub is not None:
            given = {"KXM_SERVER_URL": hub.url, "KXM_STATE_HOME": hub.environment["KXM_STATE_HOME"], **given}
        self.home = home
        self.env = environment(home, **given)
        self.project = Project(hub, project, hub.admin) if hub is not None else None

    def agent(self, name: str, **fields: object) -> Agent:
        assert self.project is not None
        return self.project.register(name, **fields)

    def run(self, *words: str, text: str = "") -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            [*PEERLINE, *words],
            env=self.env,
            cwd=self.home,
            input=text,
            capture_output=True,
            text=True,
            encoding="utf-8",
            timeout=PATIENCE_S,
            check=False,
        )
        assert "Traceback" not in done.stdout + done.stderr, done.stderr
        return done

    def says(self, *words: str, text: str = "") -> str:
        """The stdout of a command that succeeds."""
        done = self.run(*words, text=text)
        assert done.returncode == 0, done.stderr
        return done.stdout

    def told(self, *words: str) -> Any:
        """The object of a command with --json that succeeds."""
        return json.loads(self.says(*words, "--json"))

    def refused(self, *words: str, code: int = 1, text: str = "") -> str:
        """The one line on stderr of a command that fails."""
        done = self.run(*words, text=text)
        assert (done.returncode, done.stdout) == (code, ""), done
        assert done.stderr.count("\n") == 1, done.stderr
        return done.stderr.rstrip("\n")

    @contextmanager
    def started(self, *words: str) -> Iterator["subprocess.Popen[str]"]:
        """A command that goes on; killed at the end if it still runs."""
        process = subprocess.Popen(
            [*PEERLINE, *words],
            env=self.env,
            cwd=self.home,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            encoding="utf-8",
        )
        try:
            yield process
        finally:
            if process.poll() is None:
                process.kill()
            process.communicate(timeout=PATIENCE_S)
