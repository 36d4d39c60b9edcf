"""Who a command acts as: which hub, which project, which name, by which token, with which saved key."""

from __future__ import annotations

import os

from peerline.cli.hot_address import Address
from peerline.cli.hot_http import Connection, ConnectionLost, Unreachable, connect
from peerline.cli.hot_json import dumps, loads
from peerline.cli.hot_output import Failure, usage
from peerline.cli.hot_paths import DEFAULT_URL, key_path, private_write, socket_path, state_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any


class Caller:
    """Worked out from the options `--as`, `--project` and `--server`, then the environment, then the machine.

    Raises:
        Failure: the hub's URL, the state folder or the folder's name is unusable.
    """

    def __init__(self, env: dict[str, str], common: dict[str, Any]) -> None:
        self.env = env
        try:
            self.root = state_root(env)
            self.address = Address(common.get("--server") or env.get("KXM_SERVER_URL") or bound_url(self.root))
        except ValueError as error:
            code = getattr(error, "code", "hub_url_invalid")
            of_variable = code == "hub_url_invalid" and not common.get("--server") and env.get("KXM_SERVER_URL")
            raise Failure(f"{'KXM_SERVER_URL: ' if of_variable else ''}{error}", error=code, exit_code=2) from None
        self.project: str = common.get("--project") or env.get("KXM_PROJECT", "").strip() or project_of(env)
        named = common.get("--as") or env.get("KXM_AGENT_NAME", "").strip()
        self.named = bool(named)
        self.name: str = named or f"cli-{os.getpid()}"
        self.purpose = env.get("KXM_AGENT_PURPOSE", "").strip() or "CLI agent client"
        self.address.unix = self._socket()
        self.key_file = key_path(env, self.address.url, self.project, self.name)
        self.token_is_local = False

    def _socket(self) -> str | None:
        if not self.address.loopback or self.address.tls or not hasattr(os, "getuid"):
            return None
        path = socket_path(self.env, self.address.port)
        try:
            return path if os.lstat(path).st_uid == os.getuid() else None
        except OSError:
            return None

    def token(self) -> str:
        """The project's token: given, saved, minted before, or minted now over the user's socket.

        Raises:
            Failure: there is none (exit 2), or the hub that could make one is not reachable (exit 1).
        """
        if given := self.env.get("KXM_AUTH_TOKEN", "").strip():
            if not all("!" <= c <= "~" for c in given):
                raise usage("KXM_AUTH_TOKEN holds a space, a line break or a character that is not ASCII")
            return given
        saved = read_object(os.path.join(self.root, "hub-env.json")).get("projectTokens")
        if isinstance(saved, dict) and isinstance(saved.get(self.project), str):
            return saved[self.project]  # type: ignore[no-any-return]
        self.token_is_local = True
        local = self._local_tokens().get(self.project)
        return local if isinstance(local, str) else self.mint()

    def mint(self) -> str:
        """Ask the hub on this machine for a token of the project and keep it for the next time."""
        if self.address.unix is None:
            try:
                if self.address.loopback:
                    connect(self.address).close()
            except Unreachable as why:
                raise unreachable(self.address, why) from None
            raise token_missing(self.project)
        path, answer = "/v1/local/token", None
        try:
            answer = Connection(self.address, {}).request("POST", path, {"project": self.project})
        except Unreachable as why:
            raise unreachable(self.address, why) from None
        except (ConnectionLost, ValueError):
            pass
        token = answer.body.get("token") if answer and answer.status in (200, 201) else None
        if answer and answer.status == 400:  # a name that no project can have
            raise Failure(str(answer.body.get("error")), more={"code": answer.body.get("code")})
        if not isinstance(token, str):
            raise token_missing(self.project)
        path = os.path.join(self.root, "local-tokens.json")
        everything = read_object(path)
        hubs = everything.get("hubs")
        hubs = hubs if isinstance(hubs, dict) else {}
        hubs[self.address.url] = {**self._local_tokens(), self.project: token}
        keep(path, {"schema": "kxm.local-tokens.v1", "hubs": hubs})
        return token

    def _local_tokens(self) -> dict[str, Any]:
        hubs = read_object(os.path.join(self.root, "local-tokens.json")).get("hubs")
        tokens = hubs.get(self.address.url) if isinstance(hubs, dict) else None
        return tokens if isinstance(tokens, dict) else {}

    def saved_keys(self) -> list[str]:
        """Saved session keys of this agent, the newest first."""
        saved = read_object(self.key_file) if self.named else {}
        return [key for key in (saved.get("agentKey"), saved.get("earlierKey")) if isinstance(key, str) and key]

    def keep_key(self, agent_id: str, key: str, earlier: str | None) -> None:
        """`earlier` opened the door for `key`; a session that still lives by it may outlast this one."""
        if self.named:
            saved = {"schema": "kxm.agent-key.v1", "agentId": agent_id, "agentKey": key, "earlierKey": earlier}
            keep(self.key_file, saved)


def keep(path: str, value: dict[str, Any]) -> None:
    """Save for the next call; a state folder that cannot be written costs convenience, not the command."""
    try:
        private_write(path, dumps(value).encode())
    except OSError:
        pass


def read_object(path: str) -> dict[str, Any]:
    """The JSON object in a private file of this user; empty if there is none, or if others could have written it."""
    try:
        fd = os.open(path, os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
    except OSError:
        return {}
    try:
        about = os.fstat(fd)
        if hasattr(os, "getuid") and (about.st_uid != os.getuid() or about.st_mode & 0o022):
            return {}
        value = loads(os.read(fd, 1 << 20).decode())
    except (OSError, ValueError):
        return {}
    finally:
        os.close(fd)
    return value if isinstance(value, dict) else {}


def bound_url(root: str) -> str:
    """The hub that `kxm hub bind` named, else the one on this machine."""
    url = read_object(os.path.join(root, "hub-binding.json")).get("url")
    return url if isinstance(url, str) and url else DEFAULT_URL


def project_of(env: dict[str, str]) -> str:
    """package.json's name, else the repository's (the main one behind a work tree), else the folder's."""
    try:
        folder = env.get("KXM_WORKDIR") or env.get("KXM_PROJECT_DIR") or env.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    except OSError:
        raise usage("the current folder is gone; set KXM_PROJECT") from None
    folder = os.path.abspath(folder)
    top = _repository(folder, env.get("HOME", ""))
    for place in (folder, top):
        if place and (name := _package_name(place)):
            return name
    name = os.path.basename(_main(top) if top else folder)
    if not name:
        raise usage("the root folder has no name; set KXM_PROJECT")
    return name


def _package_name(folder: str) -> str | None:
    try:
        with open(os.path.join(folder, "package.json"), encoding="utf-8") as file:
            value = loads(file.read(1 << 20))
    except (OSError, ValueError):
        return None
    name = value.get("name") if isinstance(value, dict) else None
    return name.strip() or None if isinstance(name, str) else None


def _repository(folder: str, home: str) -> str | None:
    """The nearest folder with `.git`; a home folder that is a repository (dotfiles) is nobody's project."""
    while True:
        if folder != home and os.path.exists(os.path.join(folder, ".git")):
            return folder
        above = os.path.dirname(folder)
        if above == folder:
            return None
        folder = above


def _main(top: str) -> str:
    """The folder of the repository that `top` is a work tree of, read from git's files without starting git."""
    try:
        with open(os.path.join(top, ".git"), encoding="utf-8") as file:
            gitdir = os.path.join(top, file.read(4096).strip().removeprefix("gitdir:").strip())
        with open(os.path.join(gitdir, "commondir"), encoding="utf-8") as file:
            common = os.path.normpath(os.path.join(gitdir, file.read(4096).strip()))
    except (OSError, ValueError):
        return top  # an ordinary repository, or a submodule: its own folder
    return os.path.dirname(common) if os.path.basename(common) == ".git" else common.removesuffix(".git")


def branch_of(top: str) -> str | None:
    """The branch that is checked out, read from git's files; None when none is."""
    git = os.path.join(top, ".git")
    try:
        if os.path.isfile(git):
            with open(git, encoding="utf-8") as file:
                git = os.path.join(top, file.read(4096).strip().removeprefix("gitdir:").strip())
        with open(os.path.join(git, "HEAD"), encoding="utf-8") as file:
            head = file.read(4096).strip()
    except (OSError, ValueError):
        return None
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else None


def branch_here(env: dict[str, str]) -> str | None:
    """The branch of the repository that the command runs in."""
    folder = env.get("KXM_WORKDIR") or env.get("KXM_PROJECT_DIR") or env.get("CLAUDE_PROJECT_DIR") or os.getcwd()
    top = _repository(os.path.abspath(folder), env.get("HOME", ""))
    return None if top is None else branch_of(top)


def unreachable(address: Address, why: object) -> Failure:
    where = "" if address.loopback else " on its machine"
    return Failure(
        f"hub not reachable at {address.url} ({why}); start it{where} with: kxm hub start",
        more={"code": "hub_unreachable", "requestId": None, "nextAction": "kxm hub start"},
    )


def token_missing(project: str) -> Failure:
    return Failure(
        f"no token for project {project}: set KXM_AUTH_TOKEN to the project's token",
        error="project_token_missing",
        exit_code=2,
        beside={"nextAction": "export_kxm_auth_token"},
    )
