"""The hub's saved credentials, `hub-env.json` (spec/hub.md 7.3): the environment, else the file, else a new token."""

import json
import os
import secrets
import stat
from collections.abc import Callable
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Final

from peerline.cli.hot_paths import private_write
from peerline.cli.options import refused
from peerline.settings import HubSettings

SCHEMA: Final = "kxm.hub-env.v1"


@dataclass(frozen=True, slots=True, kw_only=True)
class Credentials:
    """What the hub runs with, and where the admin token came from: `environment`, `persisted` or `newly generated`."""

    path: Path
    auth_token: str
    project_tokens: dict[str, str]
    source: str

    def __repr__(self) -> str:
        return f"Credentials(source={self.source!r})"

    def save(self, now: datetime) -> None:
        """Keep them for the next start. Called when the hub listens: a refused start leaves no credentials.

        Raises:
            OSError: the state folder cannot be written.
        """
        body = {
            "schema": SCHEMA,
            "createdAt": now.isoformat(timespec="milliseconds").replace("+00:00", "Z"),
            "authToken": self.auth_token,
            "projectTokens": self.project_tokens,
        }
        saved = _load(self.path)
        if saved and all(saved.get(name) == body[name] for name in ("authToken", "projectTokens")):
            return
        private_write(str(self.path), (json.dumps(body, indent=2) + "\n").encode())


def credentials(settings: HubSettings, entropy: Callable[[int], str] = secrets.token_urlsafe) -> Credentials:
    """Work out the credentials without writing anything.

    Raises:
        Failure: the saved file cannot be trusted or read.
    """
    path = Path(settings.state_root, "hub-env.json")
    saved = _load(path)
    saved_token = str(saved.get("authToken") or "")
    saved_projects = saved.get("projectTokens") or {}
    assert isinstance(saved_projects, dict)
    if settings.auth_token:
        token, source = settings.auth_token, "environment"
    elif saved_token:
        token, source = saved_token, "persisted"
    elif settings.loopback:
        token, source = f"kxm_admin_{entropy(24)}", "newly generated"
    else:
        raise refused("hub_start_refused", "KXM_AUTH_TOKEN is required when binding beyond localhost", exit_code=2)
    return Credentials(
        path=path, auth_token=token, project_tokens=settings.project_tokens or dict(saved_projects), source=source
    )


def _load(path: Path) -> dict[str, object]:
    try:
        about = path.lstat()
        if not stat.S_ISREG(about.st_mode) or about.st_uid != os.getuid() or about.st_mode & 0o077:
            raise refused("hub_env_unsafe", f"others may read or change {path}; make it yours alone: chmod 600")
        body = json.loads(path.read_bytes())
    except (FileNotFoundError, NotADirectoryError):
        return {}
    except (OSError, ValueError):
        raise refused("hub_env_unreadable", f"saved credentials cannot be read: {path}", exit_code=2) from None
    if not isinstance(body, dict) or not _well_formed(body):
        raise refused("hub_env_unreadable", f"saved credentials are malformed: {path}", exit_code=2)
    return body


def _well_formed(body: dict[str, object]) -> bool:
    projects = body.get("projectTokens") or {}
    return (
        body.get("schema") == SCHEMA
        and isinstance(body.get("authToken") or "", str)
        and isinstance(projects, dict)
        and all(isinstance(token, str) and token for token in projects.values())
    )
