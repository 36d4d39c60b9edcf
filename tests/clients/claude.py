"""Claude Code with a home of its own, the plugin installed from this checkout, and a scripted model."""

import json
import subprocess
import sys
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.clients.install import CLAUDE
from tests.clients.model.endpoint import Endpoint
from tests.clients.terminal import Terminal
from tests.house.tracked import ROOT
from tests.hub_process import PATIENCE_S, HubProcess, environment

KEY: Final = "sk-ant-dummy-key-of-the-tests-000001"
TOOLS: Final = "mcp__plugin_kxm_kxm__*"
# Nothing may be asked of the vendor's servers, which are not there.
QUIET: Final = {
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}


@dataclass(frozen=True, slots=True)
class Printed:
    """What a headless run printed with `--output-format stream-json`."""

    events: list[dict[str, Any]]

    def hook_outputs(self, event: str) -> list[str]:
        """The contexts that our hooks of that event gave."""
        found = []
        for one in self.events:
            if one.get("subtype") == "hook_response" and one.get("hook_event") == event and one.get("stdout"):
                answer = json.loads(one["stdout"])  # {} is the endpoint's
                found += [answer["hookSpecificOutput"]["additionalContext"]] if answer else []
        return found

    @property
    def servers(self) -> dict[str, str]:
        """MCP servers and their states, as the session began."""
        (begun,) = [one for one in self.events if one.get("subtype") == "init"]
        return {server["name"]: server["status"] for server in begun["mcp_servers"]}

    @property
    def result(self) -> dict[str, Any]:
        return next(one for one in self.events if one["type"] == "result")


@dataclass(frozen=True, slots=True)
class Claude:
    """One user's Claude Code in one project folder, on a machine whose hub is `hub`."""

    home: Path
    hub: HubProcess
    model: Endpoint
    options: dict[str, str] = field(default_factory=dict)

    @property
    def folder(self) -> Path:
        return self.home / "shop"

    @property
    def config(self) -> Path:
        return self.home / ".claude"

    def environment(self) -> dict[str, str]:
        base = environment(self.home)
        return {
            **base,
            **QUIET,
            "PATH": f"{Path(sys.executable).parent}:{base['PATH']}",
            "KXM_STATE_HOME": self.hub.environment["KXM_STATE_HOME"],
            "KXM_SERVER_URL": self.hub.url,
            "CLAUDE_CONFIG_DIR": str(self.config),
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": KEY,
        }

    def set_up(self) -> None:
        """Answer the questions of a first start, report ends of turns to the model, and give the client its part."""
        self.folder.mkdir(parents=True)
        self.config.mkdir()
        answered = {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]]},
            "projects": {str(self.folder): {"hasTrustDialogAccepted": True}},
        }
        (self.config / ".claude.json").write_text(json.dumps(answered))
        report = [{"hooks": [{"type": "http", "url": self.model.hooks_url}]}]
        settings = {"hooks": {"Stop": report, "UserPromptSubmit": report, "PermissionRequest": report}}
        (self.config / "settings.json").write_text(json.dumps(settings))
        self.give()

    def give(self) -> None:
        """The plugin, with its options."""
        self.run("plugin", "marketplace", "add", str(ROOT))
        chosen = [word for name, value in self.options.items() for word in ("--config", f"{name}={value}")]
        self.run("plugin", "install", "kxm@kxm", *chosen)

    def run(self, *words: str, **variables: str) -> "subprocess.CompletedProcess[str]":
        """One command of the client, to its end; it has to go well."""
        ran = subprocess.run(
            [*CLAUDE.command, *words],
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

    def headless(self, prompt: str, *, allowed: str = TOOLS, **variables: str) -> Printed:
        """One prompt without a terminal, with what every hook said."""
        form = ["--output-format", "stream-json", "--verbose", "--include-hook-events"]
        may = ["--permission-mode", "dontAsk", "--allowedTools", allowed]
        out = self.run("-p", prompt, *form, *may, **variables).stdout
        return Printed([json.loads(line) for line in out.splitlines() if line.startswith("{")])

    def terminal(self, *words: str, allowed: str = TOOLS) -> Terminal:
        """An interactive session that may use the tools `allowed` without asking."""
        may = ["--permission-mode", "manual", "--allowedTools", allowed]
        return Terminal([*CLAUDE.command, *words, *may], self.folder, self.environment())
