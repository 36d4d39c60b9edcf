"""One user of a client: a home with one project folder, and the hub and the scripted model that it works with."""

import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from tests.clients.install import Client
from tests.clients.model.endpoint import Endpoint
from tests.hub_process import PATIENCE_S, HubProcess, environment


@dataclass(frozen=True, slots=True)
class User:
    """The agent `name` of `project`, with `client`. `variables` are added to its environment, last."""

    client: ClassVar[Client]

    home: Path
    hub: HubProcess
    model: Endpoint
    name: str = "builder"
    project: str = "shop"
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.home / "shop"

    def environment(self) -> dict[str, str]:
        base = environment(self.home)
        return {
            **base,
            "PATH": f"{Path(sys.executable).parent}:{base['PATH']}",
            "KXM_STATE_HOME": self.hub.environment["KXM_STATE_HOME"],
            "KXM_SERVER_URL": self.hub.url,
            "KXM_HOOK_WAIT_MS": "10000",  # on a busy machine a hook would leave its part out
            **self.own(),
            **self.variables,
        }

    def own(self) -> dict[str, str]:
        """What this client needs in its environment, and what says who it is."""
        return {"KXM_AGENT_NAME": self.name, "KXM_PROJECT": self.project}

    def run(self, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """One command of the client, to its end; it has to go well."""
        ran = subprocess.run(
            [*self.client.command, *words],
            env=self.environment() | variables,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_S,
            check=False,
        )
        assert ran.returncode == 0, f"{words}: {ran.stdout}{ran.stderr}"
        return ran
