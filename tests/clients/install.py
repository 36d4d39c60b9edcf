"""The real clients, pinned, in a folder outside git: `python -m tests.clients.install [name ...]`.

They come from npm; one that is there already is left alone. The platform's own binary is started where there is one:
the packages' launchers want a Node of their own, and some npm versions quietly take an older release instead.
"""

import platform
import shutil
import subprocess
import sys
import time
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.house.tracked import ROOT

CACHE: Final = ROOT / ".cache" / "clients"
_SYSTEM: Final = {"Linux": "linux", "Darwin": "darwin"}.get(platform.system(), "linux")
_MACHINE: Final = {"x86_64": "x64", "amd64": "x64", "aarch64": "arm64", "arm64": "arm64"}.get(platform.machine(), "x64")
_TARGET: Final = f"{_SYSTEM}-{_MACHINE}"
_TRIPLE: Final = {
    "linux-x64": "x86_64-unknown-linux-musl",
    "linux-arm64": "aarch64-unknown-linux-musl",
    "darwin-x64": "x86_64-apple-darwin",
    "darwin-arm64": "aarch64-apple-darwin",
}[_TARGET]


@dataclass(frozen=True, slots=True)
class Client:
    """One client's package and where in `node_modules` its program is; `node` says that Node has to run it."""

    name: str
    package: str
    version: str
    program: str
    node: bool = False

    @property
    def folder(self) -> Path:
        return CACHE / f"{self.name}-{self.version}"

    @property
    def path(self) -> Path:
        return self.folder / "node_modules" / self.program

    @property
    def installed(self) -> bool:
        return self.path.is_file()

    @property
    def command(self) -> list[str]:
        """What starts it.

        Raises:
            FileNotFoundError: it is not installed.
        """
        if not self.installed:
            raise FileNotFoundError(f"{self.name} {self.version} is not installed; run: make test-clients")
        return [str(NODE.path), str(self.path)] if self.node else [str(self.path)]


NODE: Final = Client("node", f"node-{_TARGET}", "22.23.5", f"node-{_TARGET}/bin/node")
CLAUDE: Final = Client("claude", "@anthropic-ai/claude-code", "2.1.332", f"@anthropic-ai/claude-code-{_TARGET}/claude")
CODEX: Final = Client("codex", "@openai/codex", "0.171.0", f"@openai/codex-{_TARGET}/vendor/{_TRIPLE}/bin/codex")
PI: Final = Client(
    "pi", "@earendil-works/pi-coding-agent", "1.6.0", "@earendil-works/pi-coding-agent/dist/bundle/cli.js", node=True
)
GEMINI: Final = Client("gemini", "@google/gemini-cli", "0.61.0", "@google/gemini-cli/bundle/gemini.js", node=True)
OPENCODE: Final = Client("opencode", "opencode-ai", "1.18.33", f"opencode-{_TARGET}/bin/opencode")
INSPECTOR: Final = Client(
    "inspector",
    "@modelcontextprotocol/inspector",
    "2.12.0",
    "@modelcontextprotocol/inspector/clients/launcher/build/index.js",
    node=True,
)
_CONFORMANCE: Final = "@modelcontextprotocol/conformance"
CONFORMANCE: Final = Client("conformance", _CONFORMANCE, "0.1.16", f"{_CONFORMANCE}/dist/index.js", node=True)
CONFORMANCE_NEXT: Final = Client(
    "conformance-next", _CONFORMANCE, "0.2.0-alpha.12", f"{_CONFORMANCE}/dist/index.js", node=True
)
ALL: Final = {
    client.name: client
    for client in (NODE, CLAUDE, CODEX, PI, GEMINI, OPENCODE, INSPECTOR, CONFORMANCE, CONFORMANCE_NEXT)
}


def install(client: Client) -> None:
    """Install beside and move into place, so that an interrupted run leaves nothing that looks whole.

    Raises:
        subprocess.CalledProcessError: npm did not do it; it said why.
        FileNotFoundError: there is no npm, or the package does not hold the program.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise FileNotFoundError("npm is missing: sudo apt-get install npm")
    draft = client.folder.with_name(client.folder.name + ".new")
    shutil.rmtree(draft, ignore_errors=True)
    shutil.rmtree(client.folder, ignore_errors=True)
    draft.mkdir(parents=True)
    # Older npms would run the packages' scripts, with a Node that may be too old for them; none is needed.
    options = ["--no-audit", "--no-fund", "--no-save", "--no-package-lock", "--loglevel=error", "--ignore-scripts"]
    subprocess.run([npm, "install", "--prefix", str(draft), *options, f"{client.package}@{client.version}"], check=True)
    if not (draft / "node_modules" / client.program).is_file():
        raise FileNotFoundError(f"{client.package}@{client.version} holds no {client.program}")
    draft.rename(client.folder)


def main(names: list[str]) -> int:
    for client in [ALL[name] for name in names] or list(ALL.values()):
        if client.installed:
            continue
        started = time.monotonic()
        print(f"installing {client.name} {client.version} ...", flush=True)
        install(client)
        print(f"  {time.monotonic() - started:.0f} s", flush=True)
    return 0


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
