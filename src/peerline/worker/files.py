"""The files of one worker in the user's state folder, named after its key (spec/hub.md 10.2).

worker-<key>.pid              who runs it, held by a lock of the system
worker-<key>.stop             asks that one to end
worker-<key>.child            the harness it started, held by a lock that the harness inherits
worker-session-binding-<key>.json   sessions by scope, and answers on their way
worker-seat-<key>.json        who its harness's tools act as
pi-sessions/<key>/default, pi-sessions/<key>/runs/<run>   Pi's own session files
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any, Final

from peerline.worker.plan import DEFAULT_SCOPE

Write = Callable[[str, bytes], None]
Read = Callable[[str], dict[str, Any]]
_UNSAFE: Final = re.compile(r"[^A-Za-z0-9._-]")


def worker_key(project: str, name: str) -> str:
    """One worker's key: readable, and with a digest, so that two names never share it."""
    identity = json.dumps({"project": project, "agentName": name}, separators=(",", ":"), ensure_ascii=False)
    digest = sha256(identity.encode("utf-8", "surrogatepass")).hexdigest()[:24]
    return f"{_UNSAFE.sub('_', project[:24])}-{_UNSAFE.sub('_', name[:32])}-{digest}"


@dataclass(frozen=True, slots=True, kw_only=True)
class Files:
    """`write` replaces a private file in one step; `read` gives the object in one of this user's, else nothing."""

    root: Path
    key: str
    write: Write
    read: Read

    @property
    def claim(self) -> Path:
        return self.root / f"worker-{self.key}.pid"

    @property
    def control(self) -> Path:
        return self.root / f"worker-{self.key}.stop"

    @property
    def child(self) -> Path:
        return self.root / f"worker-{self.key}.child"

    @property
    def binding(self) -> Path:
        return self.root / f"worker-session-binding-{self.key}.json"

    @property
    def seat(self) -> Path:
        return self.root / f"worker-seat-{self.key}.json"

    def sessions(self, scope: str) -> Path:
        """The folder of Pi's session files for one scope."""
        folder = self.root / "pi-sessions" / self.key
        return folder / scope if scope == DEFAULT_SCOPE else folder / "runs" / scope

    def write_object(self, path: Path, value: Mapping[str, Any]) -> None:
        """Replace it. On a full disk the old one stays: that costs a repeated turn after a crash, and no worker."""
        try:
            self.write(str(path), json.dumps(value).encode())
        except OSError:
            pass
