"""Every setting: its variable, default and meaning. Read once, by `cli` only (docs/reference/configuration.md)."""
# ruff: noqa: RUF009  (`setting` builds a field; its result is not shared)

import json
from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from ipaddress import ip_address
from pathlib import Path
from typing import Any, Final, Self

from peerline.cli.hot_paths import state_root
from peerline.core.errors import Invalid
from peerline.core.limits import (
    AGENT_LEASE_MS,
    PAIR_LIMIT,
    PAIR_WINDOW_MS,
    QUEUE_LIMIT,
    RATE_MAX,
    RATE_WINDOW_MS,
    RETENTION_DEFAULT_MS,
    TTL_DEFAULT_MS,
)

DAY_MS: Final = 86_400_000


def setting(
    var: str,
    default: Any,
    meaning: str,
    *,
    at_least: int | None = None,
    at_most: int | None = None,
    one_of: tuple[str, ...] = (),
    secret: bool = False,
) -> Any:
    """A field that `from_env` fills from the variable `var`; a secret one never shows in a repr."""
    about = {"var": var, "meaning": meaning, "at_least": at_least, "at_most": at_most, "one_of": one_of}
    if isinstance(default, dict):
        return field(default_factory=lambda: dict(default), metadata=about, repr=not secret)
    return field(default=default, metadata=about, repr=not secret)


@dataclass(frozen=True, slots=True, kw_only=True)
class HubSettings:
    """What `kxm hub start` runs with; `hub start` fills what an empty value stands for."""

    host: str = setting("KXM_HOST", "127.0.0.1", "Address to listen on; beyond loopback an admin token is needed.")
    port: int = setting("KXM_PORT", 7331, "Port to listen on; 0: a free one.", at_least=0, at_most=65_535)
    auth_token: str = setting("KXM_AUTH_TOKEN", "", "Admin token; empty: the saved one, else a new one.", secret=True)
    project_tokens: dict[str, str] = setting(
        "KXM_PROJECT_TOKENS", {}, "JSON object, project to token; replaces the saved ones.", secret=True
    )
    data_path: str = setting(
        "KXM_DATA_PATH", "", "The SQLite file, `:memory:` for none; empty: `kxm.db` in the state folder."
    )
    log_path: str = setting("KXM_LOG_PATH", "", "The log, JSON lines; empty: `kxm-hub.jsonl` in the log folder.")
    message_ttl_ms: int = setting(
        "KXM_MESSAGE_TTL_MS", TTL_DEFAULT_MS, "Life of a request that names none.", at_least=1_000, at_most=7 * DAY_MS
    )
    message_retention_ms: int = setting(
        "KXM_MESSAGE_RETENTION_MS", RETENTION_DEFAULT_MS, "How long a final message is kept.", at_least=1_000
    )
    rate_limit_max: int = setting("KXM_RATE_LIMIT_MAX", RATE_MAX, "Requests in a window.", at_least=1)
    rate_limit_window_ms: int = setting(
        "KXM_RATE_LIMIT_WINDOW_MS", RATE_WINDOW_MS, "Length of that window.", at_least=100
    )
    queue_limit: int = setting("KXM_QUEUE_LIMIT", QUEUE_LIMIT, "Open requests one recipient may have.", at_least=1)
    pair_limit: int = setting(
        "KXM_PAIR_LIMIT",
        PAIR_LIMIT,
        "Requests that two agents exchange without a person's turn before further ones are held; 0: no limit.",
        at_least=0,
        at_most=1_000,
    )
    pair_window_ms: int = setting("KXM_PAIR_WINDOW_MS", PAIR_WINDOW_MS, "The time in which they count.", at_least=100)
    allowed_hosts: tuple[str, ...] = setting(
        "KXM_ALLOWED_HOSTS", (), "Further values of Host that are answered, separated by commas."
    )
    socket_path: str = setting(
        "KXM_SOCKET_PATH", "", "The user's Unix socket; empty: `hub-<port>.sock` in the user's state folder."
    )
    header_timeout_ms: int = setting(
        "KXM_HEADER_TIMEOUT_MS", 15_000, "Time for a request's header section.", at_least=100
    )
    body_timeout_ms: int = setting("KXM_BODY_TIMEOUT_MS", 30_000, "Time for a request's body.", at_least=100)
    http: str = setting(
        "KXM_HTTP",
        "protocol",
        "How hot routes are served: our protocol or plain ASGI.",
        one_of=("protocol", "asgi"),
    )
    any_file_system: bool = setting(
        "KXM_ANY_FILE_SYSTEM", False, "1: start also where SQLite is not safe, as on a network file system."
    )
    daemon: bool = setting("KXM_DAEMON", False, "1: the log is not repeated on stdout.")
    state_root: str = ""
    stale_after_ms: int = AGENT_LEASE_MS

    @property
    def loopback(self) -> bool:
        """Whether only this machine can connect: `localhost`, `::1` or 127.x.x.x."""
        try:
            return self.host.lower() == "localhost" or ip_address(self.host.strip("[]")).is_loopback
        except ValueError:
            return False

    @property
    def sweep_interval_ms(self) -> int:
        return max(250, self.stale_after_ms // 3)

    @classmethod
    def from_env(cls, env: Mapping[str, str], *, folder: Path | None = None) -> Self:
        """Settings from `env`, with the paths that the working directory `folder` leads to.

        Raises:
            Invalid: a value does not fit its setting; the text names the variable.
        """
        values = _read(cls, env)
        root = _state_root(env)
        workspace = _workspace(env, folder)
        state = Path(env.get("KXM_STATE_DIR") or (workspace / "state" if workspace else root))
        logs = Path(env.get("KXM_LOGS_DIR") or (workspace or Path(root)) / "logs")
        values.setdefault("data_path", str(state / "kxm.db"))
        values.setdefault("log_path", str(logs / "kxm-hub.jsonl"))
        return cls(state_root=root, **values)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgentSettings:
    """Who a client is and which hub it talks to; empty: worked out where it is needed."""

    server_url: str = setting(
        "KXM_SERVER_URL", "", "The hub; empty: what `kxm hub bind` saved, else http://127.0.0.1:7331."
    )
    auth_token: str = setting("KXM_AUTH_TOKEN", "", "The project's token; empty: a saved or local one.", secret=True)
    project: str = setting(
        "KXM_PROJECT", "", "The project; empty: package.json's name, else the repository's, else the folder's."
    )
    agent_name: str = setting(
        "KXM_AGENT_NAME", "", "The agent's name; empty: `cli-<pid>`, for `kxm mcp` repository-branch."
    )
    agent_purpose: str = setting("KXM_AGENT_PURPOSE", "CLI agent client", "What the agent is for, shown to its peers.")
    tools: str = setting("KXM_TOOLS", "core", "The tools that `kxm mcp` offers: core or all.", one_of=("core", "all"))
    attempt_token: str = setting(
        "KXM_ATTEMPT_TOKEN", "", "What a step of a workflow may do: a token that limits the tools.", secret=True
    )
    session_token: str = setting(
        "KXM_SESSION_TOKEN", "", "What this session may do; empty: `session.token` in the config folder.", secret=True
    )
    user_config_dir: str = setting("KXM_USER_CONFIG_DIR", "", "The config folder; empty: `~/.config/kxm`.")
    hook_wait_ms: int = setting("KXM_HOOK_WAIT_MS", 120, "How long a hook waits for one answer of the hub.", at_least=1)
    socket_path: str = setting("KXM_SOCKET_PATH", "", "The user's Unix socket; empty: where the hub puts it.")
    state_root: str = ""

    @classmethod
    def from_env(cls, env: Mapping[str, str]) -> Self:
        """Settings from `env`, with the defaults for what it leaves out.

        Raises:
            Invalid: the state folder is not absolute.
        """
        return cls(state_root=_state_root(env), **_read(cls, env))


@dataclass(frozen=True, slots=True, kw_only=True)
class WorkerSettings:
    """What `kxm agent worker` runs with, where its options do not say it."""

    harness: str = setting(
        "KXM_WORKER_HARNESS", "pi", "The client that is supervised.", one_of=("pi", "claude", "codex")
    )
    pi_command: str = setting("KXM_PI_COMMAND", "pi", "What starts Pi; words as in a shell.")
    claude_command: str = setting("KXM_CLAUDE_COMMAND", "claude", "What starts Claude Code.")
    codex_command: str = setting("KXM_CODEX_COMMAND", "codex", "What starts Codex.")
    model: str = setting("KXM_WORKER_MODEL", "", "The model; empty: the client's own choice.")
    fallback_models: str = setting(
        "KXM_WORKER_FALLBACK_MODELS", "", "Up to 8 models for when the one before fails, separated by commas."
    )
    provider_retry_ms: int = setting(
        "KXM_WORKER_PROVIDER_RETRY_MS",
        60_000,
        "The pause before the last model is tried again.",
        at_least=1_000,
        at_most=3_600_000,
    )
    tools: str = setting(
        "KXM_WORKER_TOOLS", "", "The tools it may use, up to 64 names; empty: the client's own choice."
    )
    extension_paths: str = setting(
        "KXM_WORKER_EXTENSION_PATHS", "", "Pi: only these extensions, up to 16, separated as in PATH."
    )
    skill_paths: str = setting("KXM_WORKER_SKILL_PATHS", "", "Pi: only these skills, up to 16, separated as in PATH.")
    resume: bool = setting("KXM_WORKER_CONTINUE", True, "0: each start of the client is a new session.")
    resume_first: str = setting(
        "KXM_WORKER_INITIAL_CONTINUE", "", "0: the first start is a new session; empty: as KXM_WORKER_CONTINUE."
    )
    isolation: str = setting(
        "KXM_WORKER_SESSION_ISOLATION",
        "off",
        "workflow: a session of its own for each workflow run.",
        one_of=("off", "workflow"),
    )
    max_run_sessions: int = setting(
        "KXM_WORKER_MAX_RUN_SESSIONS", 128, "How many of them are kept.", at_least=1, at_most=1_024
    )
    tool_timeout_ms: int = setting(
        "KXM_WORKER_TOOL_TIMEOUT_MS",
        1_860_000,
        "How long one tool may run; 0: no limit.",
        at_least=0,
        at_most=86_400_000,
    )
    activation_timeout_ms: int = setting(
        "KXM_WORKER_ACTIVATION_TIMEOUT_MS",
        60_000,
        "How long the client may take to be ready, and to begin a turn.",
        at_least=1_000,
        at_most=600_000,
    )
    drain_ms: int = setting("KXM_WORKER_DRAIN_MS", 15_000, "How long it may take to end.", at_least=0, at_most=600_000)
    max_restarts: int | None = setting(
        "KXM_WORKER_MAX_RESTARTS", None, "How often it is started again in a row; empty: without a limit.", at_least=0
    )
    log_path: str = setting("KXM_WORKER_LOG_PATH", "", "The worker's log, JSON lines; empty: in the log folder.")
    agent_log_path: str = setting(
        "KXM_AGENT_LOG_PATH", "", "What the client writes to its error output; empty: in the log folder."
    )
    state_root: str = ""
    logs: str = ""

    @classmethod
    def from_env(cls, env: Mapping[str, str], *, folder: Path | None = None) -> Self:
        """Settings from `env`, with the paths that the working directory `folder` leads to.

        Raises:
            Invalid: a value does not fit its setting; the text names the variable.
        """
        root, workspace = _state_root(env), _workspace(env, folder)
        logs = env.get("KXM_LOGS_DIR") or str((workspace or Path(root)) / "logs")
        return cls(state_root=root, logs=logs, **_read(cls, env))


def _state_root(env: Mapping[str, str]) -> str:
    try:
        return state_root(env)
    except ValueError as error:
        raise Invalid(str(error)) from None


def _workspace(env: Mapping[str, str], folder: Path | None) -> Path | None:
    """The folder's own `.kxm`, used only if it exists: nothing is written into a folder unasked."""
    workspace = (folder or Path(env.get("KXM_WORKDIR") or ".")).resolve() / (env.get("KXM_WORKSPACE_DIR") or ".kxm")
    return workspace if workspace.is_dir() else None


def _read(kind: type[Any], env: Mapping[str, str]) -> dict[str, Any]:
    values: dict[str, Any] = {}
    for each in fields(kind):
        text = env.get(each.metadata.get("var", ""), "")
        if text.strip():
            values[each.name] = READERS[str(each.type)](text.strip(), each.metadata)
    return values


def _text(text: str, about: Mapping[str, Any]) -> str:
    if about["one_of"] and text not in about["one_of"]:
        raise Invalid(f"{about['var']} must be {' or '.join(about['one_of'])}")
    return text


def _integer(text: str, about: Mapping[str, Any]) -> int:
    low, high = about["at_least"], about["at_most"]
    # int() would also take "1_000" and digits of other scripts.
    number = int(text) if text.isascii() and text.removeprefix("-").isdigit() and len(text) < 19 else None
    if number is None or (low is not None and number < low) or (high is not None and number > high):
        bounds = f"of at least {low}" if high is None else f"between {low} and {high}"
        raise Invalid(f"{about['var']} must be an integer {bounds}")
    return number


def _switch(text: str, about: Mapping[str, Any]) -> bool:
    if text.lower() not in ("0", "1", "true", "false"):
        raise Invalid(f"{about['var']} must be 1, 0, true or false")
    return text.lower() in ("1", "true")


def _list(text: str, about: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(part.strip().lower() for part in text.split(",") if part.strip())


def _tokens(text: str, about: Mapping[str, Any]) -> dict[str, str]:
    try:
        tokens = json.loads(text)
    except ValueError:
        tokens = None
    if not isinstance(tokens, dict) or not all(k.strip() and isinstance(v, str) and v for k, v in tokens.items()):
        raise Invalid(f"{about['var']} must be a JSON object of project names and tokens")
    return {str(project): str(token) for project, token in tokens.items()}


READERS: Final = {
    "<class 'str'>": _text,
    "<class 'int'>": _integer,
    "int | None": _integer,
    "<class 'bool'>": _switch,
    "tuple[str, ...]": _list,
    "dict[str, str]": _tokens,
}
