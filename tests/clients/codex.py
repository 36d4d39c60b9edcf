"""Codex with a home of its own, the plugin installed from this checkout, and a scripted model."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.clients.install import CODEX
from tests.clients.model.endpoint import Endpoint
from tests.clients.terminal import Terminal
from tests.house.tracked import ROOT
from tests.hub_process import PATIENCE_S, Agent, HubProcess, environment

# A model of the test's own; nothing asks the vendor, which is not there; the tools may be called without a person.
CONFIG: Final = """model = "scripted"
model_provider = "scripted"
approval_policy = "never"
sandbox_mode = "read-only"
check_for_update_on_startup = false

[analytics]
enabled = false

[model_providers.scripted]
name = "Scripted"
base_url = {base}
env_key = "SCRIPTED_KEY"
wire_api = "responses"
request_max_retries = 0
stream_max_retries = 0
supports_websockets = false

[projects.{folder}]
trust_level = "trusted"
"""


@dataclass(frozen=True, slots=True)
class Codex:
    """One user's Codex in one project folder, as the agent `name` on `hub`."""

    home: Path
    hub: HubProcess
    model: Endpoint
    name: str = "builder"
    project: str = "shop"
    variables: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.home / "shop"

    @property
    def config(self) -> Path:
        return self.home / ".codex"

    def environment(self) -> dict[str, str]:
        base = environment(self.home)
        return {
            **base,
            "PATH": f"{Path(sys.executable).parent}:{base['PATH']}",
            "KXM_STATE_HOME": self.hub.environment["KXM_STATE_HOME"],
            "KXM_SERVER_URL": self.hub.url,
            "KXM_AGENT_NAME": self.name,
            "KXM_PROJECT": self.project,
            "CODEX_HOME": str(self.config),
            "SCRIPTED_KEY": "dummy",
            **self.variables,
        }

    def set_up(self, config: str = "") -> None:
        """Answer the questions of a first start, and install the plugin."""
        self.folder.mkdir(parents=True)
        self.config.mkdir()
        base, folder = json.dumps(f"{self.model.url}/v1"), json.dumps(str(self.folder))
        (self.config / "config.toml").write_text(CONFIG.format(base=base, folder=folder) + config)
        self.run("plugin", "marketplace", "add", str(ROOT))
        self.run("plugin", "add", "kxm@kxm")

    def run(self, *words: str) -> "subprocess.CompletedProcess[str]":
        """One command of the client, to its end; it has to go well."""
        ran = subprocess.run(
            [*CODEX.command, *words],
            env=self.environment(),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_S,
            check=False,
        )
        assert ran.returncode == 0, f"{words}: {ran.stdout}{ran.stderr}"
        return ran

    def headless(self, prompt: str, *words: str) -> list[dict[str, Any]]:
        """One prompt without a terminal; the events that it printed."""
        flags = ["--skip-git-repo-check", "--json", "--dangerously-bypass-hook-trust"]
        out = self.run("exec", *flags, *words, prompt).stdout
        return [json.loads(line) for line in out.splitlines() if line.startswith("{")]

    def terminal(self, *words: str) -> Terminal:
        """An interactive session, without the background server that would outlive it."""
        alone = ["--disable", "daemon_auto_start", "--dangerously-bypass-hook-trust"]
        return Terminal([*CODEX.command, *alone, *words], self.folder, self.environment())


def announcements(sender: Agent, message_id: str) -> list[str]:
    """What the adapter said of its announcement, waited for: each look comes after a wait of the hub's own."""
    for _ in range(100):
        facts = sender.call("GET", f"/v1/messages/{message_id}/trail").json["facts"]
        if found := [fact["detail"] for fact in facts if fact["fact"] in ("not announced", "announced")]:
            return found
        sender.wait(message_id, 200)
    return []
