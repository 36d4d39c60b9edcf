"""Pi: the package with the extension, in `settings.json` of its agent folder (spec/clients.md 5).

Not the tools by MCP beside it: the model would see each twice, and the session would be two agents.
"""

from typing import Final

from peerline.cli.setup.client import Client, Env, Part, Session, home
from peerline.cli.setup.entry import Entry
from peerline.cli.setup.shipped import plugin


def parts(env: Env, kxm: str) -> list[Part]:
    package = Entry(path=("packages",), value=str(plugin("pi")), what="the package with the kxm_ tools", listed=True)
    return [Part(path=home(env) / ".pi" / "agent" / "settings.json", entries=(package,))]


def session(env: Env, model: str) -> Session:
    api = {"baseUrl": f"{model}/v1", "api": "openai-completions", "apiKey": "none", "models": [{"id": "stand-in"}]}
    return Session(
        words=("--no-session", "--provider", "stand-in", "--model", "stand-in"),
        env={},
        files={home(env) / ".pi" / "agent" / "models.json": {"providers": {"stand-in": api}}},
    )


PI: Final = Client(
    name="pi",
    title="Pi",
    programs=("pi",),
    parts=parts,
    asked=("list",),
    listed=r"^/.*/plugins/pi$",
    connects=False,
    session=session,
    woken="a request becomes a turn of an idle session by itself, and so does the reply to its own request",
)
