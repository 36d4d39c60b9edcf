"""What lies in the user's state folder: who may read it, and whether what is saved there can be used."""

import os
import shlex
import stat
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Final

from peerline.cli.doctor.finding import Finding, fail, ok, warn
from peerline.cli.doctor.machine import existing
from peerline.cli.hot_output import Failure
from peerline.cli.hub.credentials import credentials
from peerline.settings import HubSettings

ELSEWHERE: Final = "export KXM_STATE_HOME=/a/folder/of/yours"
SOURCES: Final = {
    "environment": "the admin token of a hub started here would be KXM_AUTH_TOKEN",
    "persisted": "an admin token is saved",
    "newly generated": "no admin token yet; the hub makes one at its first start",
}


def state(settings: HubSettings, store: Path | None, env: Mapping[str, str]) -> Iterator[Finding]:
    root = Path(settings.state_root)
    yield folder("state folder", root)
    if store is not None and store.parent != root and store.parent.exists():
        yield folder("store's folder", store.parent)
    yield private(root, store)
    yield tokens(settings)
    if env.get("KXM_AUTH_TOKEN"):
        yield ok("environment", "KXM_AUTH_TOKEN is set: every command and hub of this shell uses that token")


def folder(check: str, path: Path) -> Finding:
    quoted = shlex.quote(str(path))
    try:
        about = path.stat()
    except FileNotFoundError:
        above = existing(path)
        if not os.access(above, os.W_OK | os.X_OK):
            return fail(check, f"{path} does not exist, and {above} cannot be written", ELSEWHERE)
        return ok(check, f"{path} does not exist yet")
    except OSError as error:
        return fail(check, f"{path}: {error.strerror}", ELSEWHERE)
    if not stat.S_ISDIR(about.st_mode):
        return fail(check, f"{path} is no folder", f"mv {quoted} {quoted}.aside")
    if about.st_uid != os.getuid():
        return fail(check, f"{path} belongs to user {about.st_uid}", f"sudo chown -R {os.getuid()} {quoted}")
    if not os.access(path, os.W_OK | os.X_OK):
        return fail(check, f"{path} cannot be written", ELSEWHERE)
    if about.st_mode & 0o077:
        return warn(check, f"others may look into {path} ({about.st_mode & 0o777:04o})", f"chmod 700 {quoted}")
    return ok(check, f"{path} is yours alone")


def private(root: Path, store: Path | None) -> Finding:
    """Files that hold secrets or messages: 0600."""
    wanted = [root / "hub-env.json", root / "local-tokens.json", *sorted((root / "agents").glob("*.key"))]
    if store is not None:
        wanted += [Path(f"{store}{side}") for side in ("", "-wal", "-shm")]
    there = [path for path in wanted if path.exists()]
    open_ones = [path for path in there if path.stat().st_mode & 0o077]
    if open_ones:
        names = " ".join(shlex.quote(str(path)) for path in open_ones)
        return fail(
            "private files",
            f"others may read {len(open_ones)} of {len(there)} files with secrets or texts",
            f"chmod 600 {names}",
        )
    return ok("private files", f"{len(there)} files with secrets or texts are yours alone")


def tokens(settings: HubSettings) -> Finding:
    try:
        found = credentials(settings)
    except Failure as failure:
        path = Path(settings.state_root) / "hub-env.json"
        quoted = shlex.quote(str(path))
        unsafe = failure.error == "hub_env_unsafe"
        fix = f"chmod 600 {quoted}" if unsafe else f"mv {quoted} {quoted}.aside; kxm hub start"
        return fail("credentials", failure.detail, fix)
    number = len(found.project_tokens)
    projects = "no project has a configured token" if not number else f"{number} projects have a configured token"
    return ok("credentials", f"{SOURCES[found.source]}; {projects}")
