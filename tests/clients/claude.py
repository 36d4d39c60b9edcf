"""Claude Code with a home of its own, the plugin installed from this checkout, and a scripted model."""

import json
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

from tests.clients.install import CLAUDE
from tests.clients.terminal import Terminal
from tests.clients.user import User
from tests.house.tracked import ROOT

KEY: Final = "sk-ant-dummy-key-of-the-tests-000001"
TOOLS: Final = "mcp__plugin_kxm_kxm__*"
# Nothing may be asked of the vendor's servers, which are not there.
QUIET: Final = {
    "DISABLE_AUTOUPDATER": "1",
    "DISABLE_TELEMETRY": "1",
    "DISABLE_ERROR_REPORTING": "1",
    "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1",
}


def answered(folder: Path) -> str:
    """What `.claude.json` holds when the questions of a first start were answered, with trust in `folder`."""
    return json.dumps(
        {
            "hasCompletedOnboarding": True,
            "theme": "dark",
            "customApiKeyResponses": {"approved": [KEY[-20:]]},
            "projects": {str(folder): {"hasTrustDialogAccepted": True}},
        }
    )


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
class Claude(User):
    """One user's Claude Code; without `options` the plugin goes by the variables."""

    client = CLAUDE

    options: dict[str, str] = field(default_factory=dict)

    @property
    def config(self) -> Path:
        return self.home / ".claude"

    def own(self) -> dict[str, str]:
        return {
            **QUIET,
            "CLAUDE_CONFIG_DIR": str(self.config),
            "ANTHROPIC_BASE_URL": self.model.url,
            "ANTHROPIC_API_KEY": KEY,
        }

    def set_up(self) -> None:
        """Answer the questions of a first start, report ends of turns to the model, and give the client its part."""
        self.folder.mkdir(parents=True)
        self.config.mkdir()
        (self.config / ".claude.json").write_text(answered(self.folder))
        report = [{"hooks": [{"type": "http", "url": self.model.hooks_url}]}]
        settings = {"hooks": {"Stop": report, "UserPromptSubmit": report, "PermissionRequest": report}}
        (self.config / "settings.json").write_text(json.dumps(settings))
        self.give()

    def give(self) -> None:
        """The plugin, with its options."""
        self.run("plugin", "marketplace", "add", str(ROOT))
        chosen = [word for name, value in self.options.items() for word in ("--config", f"{name}={value}")]
        self.run("plugin", "install", "kxm@kxm", *chosen)

    def headless(self, prompt: str, *, allowed: str = TOOLS, **variables: str) -> Printed:
        """One prompt without a terminal, with what every hook said."""
        form = ["--output-format", "stream-json", "--verbose", "--include-hook-events"]
        may = ["--permission-mode", "dontAsk", "--allowedTools", allowed]
        out = self.run("-p", prompt, *form, *may, **variables).stdout
        return Printed([json.loads(line) for line in out.splitlines() if line.startswith("{")])

    def terminal(self, *words: str, allowed: str = TOOLS, mode: str = "manual") -> Terminal:
        """An interactive session that may use the tools `allowed` without asking."""
        may = ["--permission-mode", mode, "--allowedTools", allowed]
        return Terminal([*CLAUDE.command, *words, *may], self.folder, self.environment())
