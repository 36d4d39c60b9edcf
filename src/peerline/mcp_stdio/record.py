"""The session's record on disk: by it hooks, monitors and shells of the same client session find their agent."""

import json
import os
from pathlib import Path

from peerline.client.records import Registered
from peerline.mcp_stdio.place import Place

SCHEMA = "kxm.session-record.v1"


class Record:
    """Written when both are known: who we are on the hub, and the client's id for the session."""

    def __init__(self, place: Place, client: str) -> None:
        self._place, self._client = place, client
        self.session_id = place.session_id
        self._registered: Registered | None = None
        self._path: str | None = None

    def registered(self, registered: Registered) -> None:
        self._registered = registered
        self._write()

    def session(self, session_id: str) -> None:
        """The client told which session of its own this is; a client may begin another one on the same server."""
        if session_id != self.session_id:
            self.remove()
            self.session_id = session_id
            self._write()

    def remove(self) -> None:
        """Take it away, unless another process has written its own there since."""
        path, self._path = self._path, None
        if path is None or self._place.read(path).get("pid") != os.getpid():
            return
        try:
            Path(path).unlink()
        except OSError:
            pass

    def _write(self) -> None:
        if self._registered is None or self.session_id is None:
            return
        path = self._place.record_file(self.session_id)
        if path is None:
            return
        sockets = [way.removeprefix("unix:") for way in self._place.addresses() if way.startswith("unix:")]
        agent = self._registered.agent
        value = {
            "schema": SCHEMA,
            "sessionId": self.session_id,
            "client": self._client,
            "pid": os.getpid(),
            "project": agent.project or self._place.project,
            "name": agent.name,
            "url": self._place.url,
            "socket": sockets[0] if sockets else None,
            "agentId": agent.id,
            "agentKey": self._registered.agent_key,
        }
        try:
            self._place.write(path, json.dumps(value).encode())
        except OSError:
            return
        self._path = path
