"""The few keys of the user's own git configuration that we pass on: credentials, SSH, proxies, who they are.

Hooks, filters, aliases, signing, `insteadOf` and the like stay out, whatever their file says.
"""

import os
import re
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Final, NamedTuple

ALLOWED: Final = (  # compiled where there is something to look at
    r"credential\..*|core\.sshcommand|core\.gitproxy|ssh\.variant|remote\.[^.]*\.proxy"
    r"|https?\.(?:.*\.)?(?:proxy|proxyauthmethod|proxysslcert|proxysslkey|proxysslcainfo|sslcainfo|sslcapath|sslcert"
    r"|sslkey|sslbackend|schannelusesslcainfo|extraheader|emptyauth|cookiefile|version)"
    r"|user\.(?:name|email|signingkey)|gpg\.ssh\.(?:program|defaultkeycommand)"
)
SSH: Final = "ssh -oBatchMode=yes -oConnectTimeout=15 -oServerAliveInterval=15 -oServerAliveCountMax=2"
_SIZE: Final = 1 << 20
_LIMIT_S: Final = 10


class UserConfig(NamedTuple):
    """Values by key, the last one of each; `path` is the file that git is given instead of the user's."""

    path: Path
    values: Mapping[str, str]

    @property
    def ssh(self) -> str | None:
        return None if "core.sshcommand" in self.values else SSH


def user_config(git: str, environ: Mapping[str, str], path: Path) -> UserConfig:
    """Read the user's global configuration and write its allowed part to `path` (0600)."""
    listed = _listed(git, environ) if _has_one(environ) else ""
    said = (entry.partition("\n") for entry in listed.split("\0") if entry)
    kept = [(key, value) for key, _, value in said if re.fullmatch(ALLOWED, key, re.IGNORECASE)]
    text = "".join(_written(key, value) for key, value in kept)
    if not path.is_file() or path.is_symlink() or path.read_text(encoding="utf-8", errors="replace") != text:
        part = path.with_name(f"{path.name}.{os.getpid()}")
        part.unlink(missing_ok=True)
        opened = os.open(part, os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW, 0o600)
        with os.fdopen(opened, "w", encoding="utf-8") as file:
            file.write(text)
        part.replace(path)
    return UserConfig(path, dict(kept))


def _has_one(environ: Mapping[str, str]) -> bool:
    """Whether the user has a global configuration at all; without one git need not be asked."""
    home, xdg = environ.get("HOME"), environ.get("XDG_CONFIG_HOME")
    folder = Path(xdg) if xdg else Path(home, ".config") if home else None
    places = [Path(home, ".gitconfig")] if home else []
    places += [folder / "git" / "config"] if folder else []
    return any(place.exists() for place in places)


def _listed(git: str, environ: Mapping[str, str]) -> str:
    asked = {name: environ[name] for name in ("PATH", "HOME", "XDG_CONFIG_HOME") if environ.get(name)}
    asked |= {"GIT_CONFIG_NOSYSTEM": "1", "LC_ALL": "C"}
    try:
        read = subprocess.run(
            [git, "config", "--global", "--includes", "-z", "--list"],
            env=asked, cwd="/", stdin=subprocess.DEVNULL, capture_output=True, timeout=_LIMIT_S, check=False,
        )  # fmt: skip
        return read.stdout[:_SIZE].decode("utf-8", "replace") if read.returncode == 0 else ""
    except subprocess.TimeoutExpired:
        return ""


def _written(key: str, value: str) -> str:
    """One key as a section of its own. A key's name and section hold no line break: git gave them."""
    section, _, name = key.rpartition(".")
    first, dot, rest = section.partition(".")
    head = f'[{first} "{_quoted(rest)}"]' if dot else f"[{first}]"
    escaped = _quoted(value).replace("\n", "\\n").replace("\t", "\\t")
    return f'{head}\n\t{name} = "{escaped}"\n'


def _quoted(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"')
