"""`peerline up --at-login`: one file of ours that makes the user's own service manager run `peerline up` at login.

Written and taken away byte for byte, as often as wished; a file there that is not ours is never touched.
"""

import plistlib
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Final

from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import private_write
from peerline.core.fence import visible

MARK: Final = "Written by `peerline up --at-login`; `peerline up --at-login --remove` takes it away."
LABEL: Final = "peerline.up"
# What says where things lie and on which port; never a token: those stay in the hub's own saved file.
KEPT: Final = (
    "KXM_STATE_HOME", "KXM_DATA_PATH", "KXM_HOST", "KXM_PORT", "KXM_LOGS_DIR", "KXM_SERVER_URL", "KXM_ALLOWED_HOSTS",
    "KXM_SOCKET_PATH", "KOMNET_HOME", "XDG_STATE_HOME",
)  # fmt: skip


@dataclass(frozen=True, slots=True)
class Login:
    """The file and, on systemd, the link in `default.target.wants` that `systemctl --user enable` would make.

    `folders` are those that go with them when they are empty then, the innermost first.
    """

    file: Path
    text: bytes
    folders: tuple[Path, ...]
    link: Path | None = None
    reload: tuple[str, ...] = field(default=())


def login(env: Mapping[str, str], platform: str = sys.platform) -> Login:
    """Raises: Failure: nothing here starts a user's programs at login as we know it."""
    home = Path(env.get("HOME") or Path.home())
    words = [sys.executable, "-m", "peerline.cli.hot", "peerline", "up", "--foreground"]
    kept = {name: env[name] for name in KEPT if env.get(name)}
    if platform == "darwin":
        agents = home / "Library" / "LaunchAgents"
        return Login(agents / f"{LABEL}.plist", _plist(words, kept), (agents, agents.parent))
    if not platform.startswith("linux"):
        raise Failure(
            f"on {platform} nothing is known that would start it; add `peerline up` to what runs at your login"
        )
    base = env.get("XDG_CONFIG_HOME", "")
    folder = (Path(base) if Path(base).is_absolute() else home / ".config") / "systemd" / "user"
    unit = folder / "peerline.service"
    link = folder / "default.target.wants" / unit.name
    folders = (link.parent, *(one for one in (folder, *list(folder.parents)[:2]) if one != home))
    return Login(unit, _unit(words, kept), folders, link, ("systemctl", "--user", "daemon-reload"))


def add(wanted: Login) -> str:
    """Write it, unless it is there as it should be; what was done.

    Raises:
        Failure: another file is there, or it cannot be written.
    """
    known = _ours(wanted.file)
    linked = wanted.link is None or _links(wanted.link, wanted.file)
    if known == wanted.text and linked:
        return "unchanged"
    try:
        if known != wanted.text:
            private_write(str(wanted.file), wanted.text)
        if wanted.link is not None and not linked:
            wanted.link.parent.mkdir(parents=True, exist_ok=True)
            wanted.link.symlink_to(wanted.file)
    except OSError as error:
        raise Failure(f"{error.filename} cannot be written: {error.strerror}") from None
    _told(wanted.reload)
    return "created" if known is None else "updated"


def remove(wanted: Login) -> bool:
    """Take it away, with folders that only held it; False: there was nothing of ours.

    Raises:
        Failure: a file is there that is not ours, or it cannot be removed.
    """
    known = _ours(wanted.file)
    linked = wanted.link is not None and wanted.link.is_symlink() and _links(wanted.link, wanted.file)
    if known is None and not linked:
        return False
    try:
        if linked and wanted.link is not None:
            wanted.link.unlink()
        if known is not None:
            wanted.file.unlink()
    except OSError as error:
        raise Failure(f"{error.filename} cannot be removed: {error.strerror}") from None
    for folder in wanted.folders:
        try:
            folder.rmdir()
        except FileNotFoundError:
            continue
        except OSError:
            break  # something else is in it
    _told(wanted.reload)
    return True


def installed(env: Mapping[str, str]) -> Path | None:
    """The file, if it is there and ours."""
    try:
        wanted = login(env)
        return wanted.file if _ours(wanted.file) is not None else None
    except Failure:
        return None


def _ours(file: Path) -> bytes | None:
    try:
        text = file.read_bytes()
    except FileNotFoundError:
        return None
    except OSError as error:
        raise Failure(f"{file} cannot be read: {error.strerror}") from None
    if MARK.encode() not in text:
        raise Failure(f"{file} is there and not from `peerline up --at-login`; move it away first")
    return text


def _links(link: Path, file: Path) -> bool:
    try:
        return link.readlink() == file
    except FileNotFoundError:
        return False
    except OSError:
        raise Failure(f"{link} is there and is not ours; move it away first") from None


def _told(words: tuple[str, ...]) -> None:
    """Let the service manager see it; where none runs it will see it at the next login."""
    if words:
        try:
            subprocess.run(words, capture_output=True, check=False, timeout=10)
        except (OSError, subprocess.TimeoutExpired):
            pass


def _unit(words: list[str], env: Mapping[str, str]) -> bytes:
    lines = [
        f"# {MARK}",
        "[Unit]",
        "Description=Peerline: hub, network daemon and gateway of this user",
        "",
        "[Service]",
    ]
    lines += [f"Environment={_quoted(f'{name}={value}')}" for name, value in env.items()]
    # Ended in order (`peerline down`), it stays down until the next login.
    lines += [
        f"ExecStart={' '.join(_quoted(word).replace('$', '$$') for word in words)}",
        "Restart=on-failure",
        "",
        "[Install]",
        "WantedBy=default.target",
        "",
    ]
    return "\n".join(lines).encode()


def _quoted(word: str) -> str:
    if any(not c.isprintable() for c in word):
        raise Failure(f"{visible(word)} cannot stand in a unit's file")
    escaped = word.replace("\\", "\\\\").replace('"', '\\"').replace("%", "%%")
    return f'"{escaped}"'


def _plist(words: list[str], env: Mapping[str, str]) -> bytes:
    body = {
        "Comment": MARK,  # a key that launchd does not read; an XML comment may not hold the two dashes
        "Label": LABEL,
        "ProgramArguments": words,
        "RunAtLoad": True,
        "KeepAlive": {"SuccessfulExit": False},
        **({"EnvironmentVariables": dict(env)} if env else {}),
    }
    return plistlib.dumps(body, sort_keys=True)
