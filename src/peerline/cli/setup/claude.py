"""Claude Code: the plugin with its tools, hooks and monitor, by three members of `settings.json`."""

from pathlib import Path
from typing import Final

from peerline.cli.setup.client import Client, Env, Part, Session, home
from peerline.cli.setup.entry import Entry, Unfit
from peerline.cli.setup.json_text import parse
from peerline.cli.setup.shipped import marketplace

PLUGIN: Final = "kxm@kxm"


def parts(env: Env, kxm: str) -> list[Part]:
    """Nothing where the client's own commands have installed the plugin."""
    path = (Path(env["CLAUDE_CONFIG_DIR"]) if env.get("CLAUDE_CONFIG_DIR") else home(env) / ".claude") / "settings.json"
    if _installed_otherwise(path):
        return []
    source = {"source": {"source": "directory", "path": str(marketplace())}}
    return [
        Part(
            path=path,
            entries=(
                Entry(path=("extraKnownMarketplaces", "kxm"), value=source, what="where the plugin is"),
                Entry(path=("enabledPlugins", PLUGIN), value=True, what=f"the plugin {PLUGIN}"),
                # The plugin's script starts this one; what is on the client's PATH is not certain.
                Entry(path=("env", "KXM_PROGRAM"), value=kxm, what="where kxm is"),
            ),
        )
    ]


def _installed_otherwise(path: Path) -> bool:
    try:
        settings = parse(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, Unfit):
        return False
    enabled, known = settings.get("enabledPlugins"), settings.get("extraKnownMarketplaces")
    return (
        isinstance(enabled, dict) and enabled.get(PLUGIN) is True and not (isinstance(known, dict) and "kxm" in known)
    )


def session(env: Env, model: str) -> Session:
    """One that has answered the questions of a first start; its key opens nothing."""
    config, key = Path(env["HOME"]) / ".claude", "sk-ant-stand-in-of-peerline-setup"
    answered = {
        "hasCompletedOnboarding": True,
        "theme": "dark",
        "customApiKeyResponses": {"approved": [key[-20:]]},
        "projects": {str(Path(env["HOME"]) / "work"): {"hasTrustDialogAccepted": True}},
    }
    given = {"CLAUDE_CONFIG_DIR": str(config), "ANTHROPIC_BASE_URL": model, "ANTHROPIC_API_KEY": key}
    return Session(words=("--permission-mode", "manual"), env=given, files={config / ".claude.json": answered})


CLAUDE: Final = Client(
    name="claude",
    title="Claude Code",
    programs=("claude",),
    parts=parts,
    woken="the plugin's monitor wakes an idle session in a terminal; `claude -p` is told at its start, with each prompt"
    " and at the end of a turn",
    listed=r"^plugin:kxm:kxm: .*\bConnected$",
    session=session,
    otherwise="the plugin kxm@kxm is installed already, by the client's own commands; nothing to write",
)
