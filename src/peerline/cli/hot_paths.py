"""Where this user's state lies: plain `os` only, for the hot commands and for everybody else.

<state root>/                     KXM_STATE_HOME, else $XDG_STATE_HOME/kxm, else ~/.local/state/kxm
├── hub-env.json                  saved credentials of the hub
├── hub-binding.json              the hub this machine talks to
├── hub.pid  hub.stop             who runs the hub; asks it to stop
├── hub-<port>.sock               the user's Unix socket to that hub
├── local-tokens.json             project tokens minted over that socket
└── agents/<hash>.key             saved session keys, one per (hub, project, name)
"""

import os
import sys
from _collections_abc import Mapping  # loaded anyway; `collections.abc` is 3 ms

DEFAULT_URL = "http://127.0.0.1:7331"
# sockaddr_un holds 104 bytes on macOS and 108 on Linux, the closing NUL included.
SOCKET_PATH_BYTES = 100


class StateRootNotAbsolute(ValueError):
    code = "local_state_root_not_absolute"


def state_root(env: Mapping[str, str]) -> str:
    """The folder of this user's state; it need not exist yet.

    Raises:
        StateRootNotAbsolute: KXM_STATE_HOME is set to a relative path.
    """
    if home := env.get("KXM_STATE_HOME"):
        if not os.path.isabs(home):
            raise StateRootNotAbsolute("KXM_STATE_HOME must be an absolute path")
        return home
    if sys.platform == "win32":
        return os.path.join(env.get("LOCALAPPDATA") or os.path.expanduser("~"), "KXM")
    if sys.platform == "darwin":
        return os.path.join(_home(env), "Library", "Application Support", "KXM")
    base = env.get("XDG_STATE_HOME", "")
    # The XDG specification says: a relative path is to be ignored.
    return os.path.join(base if os.path.isabs(base) else os.path.join(_home(env), ".local", "state"), "kxm")


def socket_path(env: Mapping[str, str], port: int) -> str:
    """The user's Unix socket to the hub on `port`; KXM_SOCKET_PATH names another one."""
    if named := env.get("KXM_SOCKET_PATH"):
        return named
    root = state_root(env)
    path = os.path.join(root, f"hub-{port}.sock")
    if len(os.fsencode(path)) <= SOCKET_PATH_BYTES:
        return path
    short = sha256_hex(os.fsencode(root))[:16]
    runtime = env.get("XDG_RUNTIME_DIR", "")
    folder = os.path.join(runtime, "kxm") if os.path.isabs(runtime) else f"/tmp/kxm-{os.getuid()}"
    path = os.path.join(folder, f"{short}-{port}.sock")
    if len(os.fsencode(path)) <= SOCKET_PATH_BYTES:
        return path
    return f"/tmp/kxm-{os.getuid()}/{short}-{port}.sock"


def key_path(env: Mapping[str, str], url: str, project: str, name: str) -> str:
    """Where the session key of agent `name` of `project` on the hub at `url` is kept."""
    identity = "\n".join((url.rstrip("/"), project, name.lower()))
    return os.path.join(state_root(env), "agents", sha256_hex(identity.encode("utf-8", "replace"))[:32] + ".key")


def sha256_hex(data: bytes) -> str:
    """`hashlib` loads OpenSSL, 4 ms that the interpreter's own module does not take."""
    try:
        if sys.version_info >= (3, 12):
            from _sha2 import sha256
        else:
            from _sha256 import sha256  # type: ignore[import-not-found]
    except ImportError:
        from hashlib import sha256
    digest: str = sha256(data).hexdigest()
    return digest


def private_write(path: str, data: bytes) -> None:
    """Replace `path` by `data`, readable by this user only, in one step; its folder is made 0700.

    Raises:
        OSError: the folder or the file could not be written; the old file is as it was.
    """
    folder = os.path.dirname(path)
    os.makedirs(folder, mode=0o700, exist_ok=True)
    draft = f"{path}.{os.getpid()}-{os.urandom(4).hex()}"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0)
    fd = os.open(draft, flags, 0o600)
    try:
        try:
            while data:
                data = data[os.write(fd, data) :]
        finally:
            os.close(fd)
        os.replace(draft, path)
    except BaseException:
        os.unlink(draft)
        raise


def _home(env: Mapping[str, str]) -> str:
    return env.get("HOME") or os.path.expanduser("~")
