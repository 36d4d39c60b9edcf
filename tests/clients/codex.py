"""Codex with a home of its own, the plugin installed from this checkout, and a scripted model."""

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.clients.install import CODEX
from tests.clients.terminal import Terminal
from tests.clients.user import User
from tests.house.tracked import ROOT
from tests.hub_process import Agent

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


def config(model: str, folder: Path) -> str:
    """Its `config.toml`, with trust in `folder`."""
    return CONFIG.format(base=json.dumps(f"{model}/v1"), folder=json.dumps(str(folder)))


@dataclass(frozen=True, slots=True)
class Codex(User):
    """One user's Codex."""

    client = CODEX

    @property
    def config(self) -> Path:
        return self.home / ".codex"

    def own(self) -> dict[str, str]:
        return {
            "KXM_AGENT_NAME": self.name,
            "KXM_PROJECT": self.project,
            "CODEX_HOME": str(self.config),
            "SCRIPTED_KEY": "dummy",
        }

    def arrive(self) -> None:
        """Answer the questions of a first start."""
        self.folder.mkdir(parents=True)
        self.config.mkdir()
        (self.config / "config.toml").write_text(config(self.model.url, self.folder))

    def set_up(self) -> None:
        """Arrive, and install the plugin."""
        self.arrive()
        self.run("plugin", "marketplace", "add", str(ROOT))
        self.run("plugin", "add", "kxm@kxm")

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
