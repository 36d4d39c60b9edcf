"""From options and settings to what one worker runs; refused before anything is started."""

import os
import re
import shlex
import shutil
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from peerline.cli.hot_output import usage
from peerline.cli.options import refused
from peerline.core.errors import Invalid
from peerline.settings import WorkerSettings
from peerline.worker.plan import Plan

FALLBACKS: Final = 8
SELECTOR: Final = 256
TOOLS: Final = 64
PATHS: Final = 16
_TOOL: Final = re.compile(r"[A-Za-z0-9_.-]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Chosen:
    """What the command line said; None: it left it to the settings."""

    name: str | None
    project: str | None
    harness: str | None
    model: str | None
    fallback_models: str | None
    tools: str | None
    isolation: str | None
    resume: bool
    fresh_start: bool
    arguments: tuple[str, ...]


def planned(chosen: Chosen, settings: WorkerSettings, env: Mapping[str, str]) -> Plan:
    """Raises Failure: something is missing, out of range or not there."""
    name = chosen.name or env.get("KXM_AGENT_NAME", "").strip()
    project = chosen.project or env.get("KXM_PROJECT", "").strip()
    if not name:
        raise usage("--name is required: what peers call this agent (or KXM_AGENT_NAME)")
    if not project:
        raise usage("--project is required: the project of its peers (or KXM_PROJECT)")
    harness = chosen.harness or settings.harness
    if harness == "codex" and (chosen.tools or settings.tools):
        raise usage("Codex takes no list of tools; its sandbox says what it may do: -- -c 'sandbox_mode=\"read-only\"'")
    resume = chosen.resume and settings.resume
    first = settings.resume_first.lower() not in ("0", "false") if settings.resume_first else True
    return Plan(
        harness=harness,
        name=name,
        project=project,
        folder=Path(env.get("KXM_WORKDIR") or ".").resolve(),
        command=_command(harness, settings, env),
        kxm=(sys.executable, "-m", "peerline.cli.hot", "kxm"),
        arguments=chosen.arguments,
        models=_models(chosen.model or settings.model, chosen.fallback_models or settings.fallback_models),
        tools=_tools(chosen.tools or settings.tools),
        extensions=_paths("KXM_WORKER_EXTENSION_PATHS", settings.extension_paths),
        skills=_paths("KXM_WORKER_SKILL_PATHS", settings.skill_paths),
        isolation=(chosen.isolation or settings.isolation) == "workflow",
        max_run_sessions=settings.max_run_sessions,
        resume=resume,
        resume_first=resume and first and not chosen.fresh_start,
        tool_timeout=settings.tool_timeout_ms,
        activation_timeout=settings.activation_timeout_ms,
        drain=settings.drain_ms,
        provider_retry=settings.provider_retry_ms,
        max_restarts=settings.max_restarts,
    )


def _command(harness: str, settings: WorkerSettings, env: Mapping[str, str]) -> tuple[str, ...]:
    variable = f"KXM_{harness.upper()}_COMMAND"
    text = {"pi": settings.pi_command, "claude": settings.claude_command, "codex": settings.codex_command}[harness]
    try:
        words = shlex.split(text)
    except ValueError:
        raise usage(f"{variable}: a quote is not closed") from None
    if not words or shutil.which(words[0], path=env.get("PATH")) is None:
        raise refused(
            "harness_not_found",
            f"{words[0] if words else harness} is not installed or not on the PATH; install it, or name it: {variable}",
            exit_code=2,
        )
    return tuple(words)


def _models(primary: str, others: str) -> tuple[str, ...]:
    fallbacks = [one.strip() for one in others.split(",") if one.strip()]
    if fallbacks and not primary:
        raise usage("fallback models need a first one: --model (or KXM_WORKER_MODEL)")
    if len(fallbacks) > FALLBACKS:
        raise usage(f"at most {FALLBACKS} fallback models")
    models = [one for one in (primary.strip(), *fallbacks) if one]
    if any(len(one) > SELECTOR or set(one) & {"\0", "\n", "\r", ","} or one.startswith("-") for one in models):
        raise usage(f"a model's name is up to {SELECTOR} characters without line breaks and commas")
    return tuple(models)


def _tools(text: str) -> tuple[str, ...]:
    tools = tuple(one.strip() for one in text.split(",") if one.strip())
    if len(tools) > TOOLS or not all(_TOOL.fullmatch(one) for one in tools):
        raise usage(f"tools are up to {TOOLS} names of letters, digits, dot, dash and underscore, separated by commas")
    return tools


def _paths(variable: str, text: str) -> tuple[str, ...]:
    paths = tuple(one for one in text.split(os.pathsep) if one)
    if len(paths) > PATHS:
        raise usage(f"{variable}: at most {PATHS} paths")
    for path in paths:
        if not Path(path).exists():
            raise usage(f"{variable}: there is no {path}")
    return tuple(str(Path(path).resolve()) for path in paths)


def settings_of(env: Mapping[str, str]) -> WorkerSettings:
    """Raises Failure: a variable does not fit."""
    try:
        return WorkerSettings.from_env(env)
    except Invalid as error:
        raise usage(error.text) from None
