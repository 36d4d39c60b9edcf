"""A name on one hub, held by one process of this machine: a lock that ends with it, and the keys that resume it.

The lock file holds the key of the process that has the lock: after `kill -9` the next one finds it there, whatever
short-lived commands wrote into the shared key file meanwhile.
"""

import json
import os
from pathlib import Path

from peerline.client.records import Registered
from peerline.mcp_stdio.lock import lock_path, take
from peerline.mcp_stdio.place import Place

KEY_BYTES = 4096


class Identity:
    def __init__(self, place: Place, name: str) -> None:
        self.name = name
        self._place = place
        self._key_file = place.key_file(name)
        self._lock: int | None = None

    def hold(self) -> bool:
        """Take the name for this process; False if another one has it. In a folder that cannot be written all may."""
        if self._lock is not None:
            return True
        path = lock_path(self._key_file)
        try:
            Path(path).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_RDWR | os.O_CREAT | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_CLOEXEC", 0)
            lock = os.open(path, flags, 0o600)
        except OSError:
            return True
        if not take(lock):
            os.close(lock)
            return False
        self._lock = lock
        return True

    def keys(self) -> list[str]:
        """Keys that may resume the name, the likeliest first."""
        saved = self._place.read(self._key_file)
        found = [self._own_key(), saved.get("agentKey"), saved.get("earlierKey")]
        return list(dict.fromkeys(key for key in found if isinstance(key, str) and key))

    def keep(self, registered: Registered) -> None:
        """Save the session's key, for the next process and for commands in this session's shell."""
        key, agent = registered.agent_key, registered.agent.id
        earlier = self._place.read(self._key_file).get("agentKey")
        shared = {"schema": "kxm.agent-key.v1", "agentId": agent, "agentKey": key, "earlierKey": earlier}
        try:
            self._place.write(self._key_file, json.dumps(shared).encode())
            if self._lock is not None:
                line = json.dumps({"agentId": agent, "agentKey": key}).encode()
                os.pwrite(self._lock, line, 0)
                os.ftruncate(self._lock, len(line))
        except OSError:
            pass  # costs the identity after a crash, not this session

    def release(self) -> None:
        """Never unlinks: a waiter would then lock a file that nobody else sees."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def forget(self) -> None:
        """Take its files away: of a name that no later process will have."""
        for path in (self._key_file, lock_path(self._key_file)):
            try:
                Path(path).unlink()
            except OSError:
                pass

    def _own_key(self) -> str | None:
        if self._lock is None:
            return None
        try:
            value = json.loads(os.pread(self._lock, KEY_BYTES, 0))
        except (OSError, ValueError):
            return None
        key = value.get("agentKey") if isinstance(value, dict) else None
        return key if isinstance(key, str) else None
