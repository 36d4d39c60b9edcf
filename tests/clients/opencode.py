"""OpenCode with a home of its own, the tools and the plugin of this checkout, and a scripted model."""

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from tests.clients.install import OPENCODE
from tests.clients.terminal import Terminal
from tests.clients.user import User
from tests.house.tracked import ROOT
from tests.hub_process import PATIENCE_S

PLUGIN: Final = ROOT / "plugins" / "opencode" / "kxm.js"
MODEL: Final = "scripted"
# Nothing is asked of the vendor, and OpenCode's own packages are not fetched.
QUIET: Final = {"OPENCODE_DISABLE_AUTOUPDATE": "1", "OPENCODE_DISABLE_MODELS_FETCH": "1", "npm_config_offline": "true"}


def settings(url: str) -> dict[str, Any]:
    """What its user has chosen: a model, and that tools run without a question."""
    provider = {
        "npm": "@ai-sdk/openai-compatible",
        "name": "Scripted",
        "options": {"baseURL": f"{url}/v1", "apiKey": "dummy"},
        "models": {MODEL: {"name": "Scripted"}},
    }
    return {
        "autoupdate": False,
        "share": "disabled",
        "model": f"scripted/{MODEL}",
        "permission": {"*": "allow"},
        "provider": {"scripted": provider},
    }


@dataclass(frozen=True, slots=True)
class OpenCode(User):
    """One user's OpenCode."""

    client = OPENCODE

    def own(self) -> dict[str, str]:
        # It believes PWD more than the folder that it runs in.
        return {"KXM_AGENT_NAME": self.name, "KXM_PROJECT": self.project, "PWD": str(self.folder), **QUIET}

    def set_up(self, *, plugin: bool = True) -> None:
        self.folder.mkdir(parents=True)
        kxm = {"type": "local", "command": [str(Path(sys.executable).with_name("kxm")), "mcp"], "enabled": True}
        ours: dict[str, Any] = {"mcp": {"kxm": kxm}} | ({"plugin": [str(PLUGIN)]} if plugin else {})
        (self.folder / "opencode.json").write_text(json.dumps(settings(self.model.url) | ours))

    def headless(self, prompt: str) -> str:
        """One prompt without a terminal; what it printed."""
        return self.run("run", "--model", f"scripted/{MODEL}", prompt).stdout

    def terminal(self, *words: str) -> Terminal:
        return Terminal([*self.client.command, *words], self.folder, self.environment())

    @contextmanager
    def serve(self) -> Iterator[str]:
        """`opencode serve`; its address."""
        process = subprocess.Popen(
            [*self.client.command, "serve", "--port", "0"],
            env=self.environment(),
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
        )
        try:
            assert process.stdout is not None
            listening = next(line for line in process.stdout if "listening on " in line)
            yield listening.rpartition(" ")[2].strip()
        finally:
            process.terminate()
            process.wait(PATIENCE_S)
            if process.stdout is not None:
                process.stdout.close()
