"""`kxm agent worker` around each real client: how it is started in a user's home, and in what they differ."""

import json
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from tests.clients.claude import Claude
from tests.clients.codex import Codex
from tests.clients.install import PI
from tests.clients.model.endpoint import Endpoint
from tests.clients.worker import Worker
from tests.hub_process import HubProcess, environment

NAMED: Final = ("--name", "builder", "--project", "shop")
PI_MODELS: Final = ("scripted", "spare")


def claude_worker(home: Path, hub: HubProcess, model: Endpoint, *words: str, **variables: str) -> Worker:
    client = Claude(home, hub, model, options={"agent_name": "builder", "project": "shop"})
    return _beside_the_plugin(client, client.config, "claude", *words, **variables)


def codex_worker(home: Path, hub: HubProcess, model: Endpoint, *words: str, **variables: str) -> Worker:
    client = Codex(home, hub, model)
    return _beside_the_plugin(client, client.config, "codex", *words, **variables)


def _beside_the_plugin(client: Claude | Codex, config: Path, harness: str, *words: str, **variables: str) -> Worker:
    """In a home where the plugin is installed too, as its user's other sessions have it."""
    if not config.exists():
        client.set_up()
    command = {f"KXM_{harness.upper()}_COMMAND": shlex.join(client.client.command)}
    return Worker(client.environment() | command | variables, client.folder, (*NAMED, "--harness", harness, *words))


def pi_worker(home: Path, hub: HubProcess, model: Endpoint, *words: str, **variables: str) -> Worker:
    folder = home / "shop"
    folder.mkdir(parents=True, exist_ok=True)
    settings = home / ".pi/agent/models.json"
    settings.parent.mkdir(parents=True, exist_ok=True)
    api = {"baseUrl": f"{model.url}/v1", "api": "openai-completions", "apiKey": "dummy"}
    settings.write_text(json.dumps({"providers": {"scripted": {**api, "models": [{"id": one} for one in PI_MODELS]}}}))
    known = environment(
        home,
        PI_OFFLINE="1",
        KXM_STATE_HOME=hub.environment["KXM_STATE_HOME"],
        KXM_SERVER_URL=hub.url,
        KXM_PI_COMMAND=shlex.join(PI.command),
        KXM_WORKER_MODEL="scripted/scripted",
        **variables,
    )
    return Worker(known, folder, (*NAMED, *words))


@dataclass(frozen=True, slots=True, kw_only=True)
class Harness:
    """`models`: the words that name one and its spare, and how the spare asks at the provider. `history`: where the
    client keeps its conversations, seen from the user's home, if the worker finds that they are gone."""

    start: Callable[..., Worker]
    models: tuple[str, ...]
    spare: str
    asks_as: str
    history: str = ""

    def __str__(self) -> str:
        return self.start.__name__.removesuffix("_worker")


HARNESSES: Final = (
    Harness(start=pi_worker, models=("--fallback-models", "scripted/spare"), spare="scripted/spare", asks_as="spare"),
    Harness(
        start=claude_worker,
        models=("--model", "claude-opus-4-5", "--fallback-models", "claude-sonnet-4-5"),
        spare="claude-sonnet-4-5",
        asks_as="claude-sonnet-4-5",
        history=".claude/projects",
    ),
    Harness(
        start=codex_worker,
        models=("--model", "first", "--fallback-models", "spare"),
        spare="spare",
        asks_as="spare",
        history=".codex/sessions",
    ),
)
