"""Which agent a client's session is, and what it has been told: files that its processes share.

<state root>/sessions/<session id>.json   who the session is on the hub; `kxm mcp` writes it and takes it away
<state root>/sessions/<session id>.told   a line for each message that the session was told of: `<id> <how>`
"""

from __future__ import annotations

import os
from time import monotonic, sleep

from peerline.cli.hot_identity import read_object
from peerline.cli.hot_paths import state_root

TYPE_CHECKING = False
if TYPE_CHECKING:
    from typing import Any

SCHEMA = "kxm.session-record.v1"
# Told at a session's start, which begins no turn; told so that a turn begins or goes on; told again at a turn's end.
BRIEFED, ANNOUNCED, REMINDED = "briefed", "announced", "reminded"
GENERATIONS = 3  # a hook, perhaps a shell, its client; one more could be the session that started this client
TOLD_BYTES = 1 << 20
OLD_S = 14 * 86_400
_NAME = frozenset("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789._-")


class Sessions:
    """The folder of this user's session files; nothing in it has to exist."""

    def __init__(self, env: dict[str, str]) -> None:
        self.folder = os.path.join(state_root(env), "sessions")

    def record(self, session_id: str, patience_s: float = 0.0) -> dict[str, Any] | None:
        """Who the session is; None if no `kxm mcp` of it has registered within `patience_s`.

        A client that starts a new conversation in the same process keeps its `kxm mcp` under the old id; that one is
        found by the process.
        """
        end = monotonic() + patience_s
        while True:
            if found := self._by_id(session_id) or self._by_process():
                return found
            if monotonic() >= end:
                return None
            sleep(0.01)

    def others(self, session_id: str) -> list[dict[str, Any]]:
        """The records of living sessions other than this one."""
        own = self.record(session_id)
        return [one for one in self._all() if one != own and _alive(one.get("pid"))]

    def told(self, session_id: str) -> dict[str, str]:
        """What the session was told of: message id to how it was told, whichever came last."""
        if not plain(session_id):
            return {}
        try:
            fd = os.open(self._path(session_id, "told"), os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0))
        except OSError:
            return {}
        try:
            text = os.read(fd, TOLD_BYTES).decode("ascii", "replace")
        finally:
            os.close(fd)
        lines = [line.split(" ") for line in text.split("\n") if line]
        return {line[0]: line[1] if len(line) > 1 else ANNOUNCED for line in lines}

    def tell(self, session_id: str, ids: list[str], how: str = ANNOUNCED) -> None:
        """Note that the session is told of these messages; that this fails costs a repetition, not a message."""
        if not ids or not plain(session_id):
            return
        try:
            os.makedirs(self.folder, mode=0o700, exist_ok=True)
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
            fd = os.open(self._path(session_id, "told"), flags, 0o600)
            try:
                os.write(fd, "".join(f"{one} {how}\n" for one in ids).encode("ascii", "replace"))
            finally:
                os.close(fd)
        except OSError:
            pass

    def sweep(self, now_s: float) -> None:
        """Take away what sessions of long ago were told."""
        for name in self._names(".told"):
            path = os.path.join(self.folder, name)
            try:
                if os.stat(path).st_mtime < now_s - OLD_S:
                    os.unlink(path)
            except OSError:
                pass

    def _by_id(self, session_id: str) -> dict[str, Any] | None:
        return _valid(read_object(self._path(session_id, "json"))) if plain(session_id) else None

    def _by_process(self) -> dict[str, Any] | None:
        records = [(one, one.get("pid")) for one in self._all()]
        above = _ancestors(os.getpid(), GENERATIONS)[1:] if records else []
        for client in above:
            for one, pid in records:
                if isinstance(pid, int) and client in (pid, _parent(pid)):
                    return one
        return None

    def _all(self) -> list[dict[str, Any]]:
        found = [_valid(read_object(os.path.join(self.folder, name))) for name in self._names(".json")]
        return [one for one in found if one is not None]

    def _names(self, ending: str) -> list[str]:
        try:
            return sorted(name for name in os.listdir(self.folder) if name.endswith(ending))
        except OSError:
            return []

    def _path(self, session_id: str, ending: str) -> str:
        return os.path.join(self.folder, f"{session_id}.{ending}")


def plain(name: str) -> bool:
    """Whether a client's session id may stand in a file's name."""
    return 0 < len(name) <= 128 and name[0] != "." and _NAME.issuperset(name)


def _valid(record: dict[str, Any]) -> dict[str, Any] | None:
    texts = ("project", "name", "url", "agentId", "agentKey")
    if record.get("schema") != SCHEMA or not all(isinstance(record.get(text), str) for text in texts):
        return None
    return record


def _ancestors(pid: int, most: int) -> list[int]:
    found: list[int] = []
    while pid > 1 and len(found) < most:
        found.append(pid)
        pid = _parent(pid)
    return found


def _parent(pid: int) -> int:
    """0 when it is not known."""
    if pid == os.getpid():
        return os.getppid()
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return int(file.read(4096).rpartition(b")")[2].split()[1])
    except (OSError, ValueError, IndexError):
        return 0


def _alive(pid: object) -> bool:
    if not isinstance(pid, int) or pid <= 0:
        return False
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except OSError:
        pass
    return True
