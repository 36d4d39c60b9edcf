"""Pi, Gemini CLI and OpenCode with homes of their own: only our server in their settings, and a scripted model."""

import json
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from peerline.cli.setup.gemini import HOOKS
from tests.clients.install import GEMINI, OPENCODE, PI, Client
from tests.clients.model.endpoint import Endpoint
from tests.clients.opencode import settings
from tests.hub_process import PATIENCE_S, HubProcess, environment

MODEL: Final = "scripted"
QUIET: Final = {"PI_OFFLINE": "1", "OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1"}


@dataclass(frozen=True, slots=True)
class Setting:
    """Where a client runs: its user's home, its project, the model, and what starts our server there."""

    home: Path
    folder: Path
    model: str
    server: list[str]
    variables: dict[str, str]
    hooks: Mapping[str, str]

    def put(self, path: Path, value: Any) -> None:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(json.dumps(value, indent=1))

    @property
    def entry(self) -> dict[str, Any]:
        """Our server in the form that most clients share."""
        return {"command": self.server[0], "args": self.server[1:], "env": self.variables}


Arranged = tuple[list[str], dict[str, str]]
"""The words behind the program, the prompt aside, and variables."""


def pi(at: Setting) -> Arranged:
    provider = {"baseUrl": f"{at.model}/v1", "api": "openai-completions", "apiKey": "dummy", "models": [{"id": MODEL}]}
    at.put(at.home / ".pi/agent/models.json", {"providers": {"scripted": provider}})
    at.put(at.home / ".pi/agent/mcp.json", {"mcpServers": {"kxm": {**at.entry, "exposure": "direct"}}})
    return ["-p", "--no-session", "--provider", "scripted", "--model", MODEL], {}


def gemini(at: Setting) -> Arranged:
    settings = {
        "general": {"enableAutoUpdate": False},
        "privacy": {"usageStatisticsEnabled": False},
        "security": {"auth": {"selectedType": "gemini-api-key"}},
        "mcpServers": {"kxm": {**at.entry, "trust": True}},
        "hooks": {event: [_hook(at.server[0], ours)] for event, ours in at.hooks.items()},
    }
    at.put(at.home / ".gemini/settings.json", settings)
    variables = at.variables | {
        "KXM_HOOK_WAIT_MS": "10000",  # on a busy machine a hook would leave its part out
        "GEMINI_API_KEY": "dummy",
        "GOOGLE_GEMINI_BASE_URL": at.model,
        "GEMINI_CLI_TRUST_WORKSPACE": "true",
    }
    return ["--skip-trust", "-m", "gemini-2.5-flash", "--approval-mode", "yolo", "-p"], variables


def _hook(kxm: str, event: str) -> dict[str, Any]:
    return {"hooks": [{"type": "command", "command": f"{kxm} hook {event} --client gemini"}]}


def opencode(at: Setting) -> Arranged:
    ours = {"kxm": {"type": "local", "command": at.server, "environment": at.variables, "enabled": True}}
    at.put(at.folder / "opencode.json", settings(at.model) | {"mcp": ours})
    return ["run", "--model", f"scripted/{MODEL}"], {}


@dataclass(frozen=True, slots=True)
class Other:
    """A client that knows us only as an MCP server."""

    client: Client
    arrange: Callable[[Setting], Arranged]

    def headless(
        self,
        prompt: str,
        home: Path,
        hub: HubProcess,
        model: Endpoint,
        hooks: Mapping[str, str] = HOOKS,
        **variables: str,
    ) -> str:
        """One prompt without a terminal, in a home of its own; what it printed. `variables` are our server's."""
        folder = home / "shop"
        folder.mkdir(parents=True, exist_ok=True)
        kxm = str(Path(sys.executable).with_name("kxm"))
        known = {"KXM_STATE_HOME": hub.environment["KXM_STATE_HOME"], "KXM_SERVER_URL": hub.url, **variables}
        words, more = self.arrange(Setting(home, folder, model.url, [kxm, "mcp"], known, hooks))
        ran = subprocess.run(
            [*self.client.command, *words, prompt],
            # OpenCode believes PWD more than the folder that it runs in.
            env={**environment(home), **QUIET, "PWD": str(folder), **more},
            cwd=folder,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=2 * PATIENCE_S,
            check=False,
        )
        assert ran.returncode == 0, f"{ran.stdout}{ran.stderr}"
        return ran.stdout


OTHERS: Final = {"pi": Other(PI, pi), "gemini": Other(GEMINI, gemini), "opencode": Other(OPENCODE, opencode)}
