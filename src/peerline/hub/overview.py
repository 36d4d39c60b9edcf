"""What an operator sees of a project, never a body (spec/hub.md 3.12), and the hint that it changed."""

from collections.abc import Callable
from typing import Any

from peerline.core.ids import Millis
from peerline.core.message import Message
from peerline.core.text import lower
from peerline.database.later import Later
from peerline.hub.agents import Agents
from peerline.hub.messages import Messages
from peerline.store.api import Store
from peerline.store.tables import messages as sql
from peerline.wire.instants import instant
from peerline.wire.json_body import encode
from peerline.wire.sse import HEARTBEAT

MESSAGES = 16
EXPIRE = 200


class Overview:
    def __init__(
        self, store: Store, agents: Agents, messages: Messages, now: Callable[[], Millis], retention_ms: int
    ) -> None:
        self._store, self._agents, self._messages = store, agents, messages
        self._now, self._retention_ms = now, retention_ms

    def snapshot(self, project: str) -> Later[dict[str, Any]]:
        """Agents and open messages of `project`; what is overdue is expired and purged first."""
        self._messages.expire_due(EXPIRE)
        self._messages.purge(self._retention_ms, EXPIRE)

        def work(tx: Any) -> tuple[list[Message], int]:
            return tx.messages.list(sql.OPEN_IN, project=project, most=MESSAGES), tx.messages.open_in(project)

        return self._store.write(work).map(lambda found: self._body(project, *found))

    def _body(self, project: str, newest: list[Message], total: int) -> dict[str, Any]:
        agents = self._agents.listed(project, include_offline=True)
        agents.sort(key=lambda agent: (not agent["online"], lower(str(agent["name"]))))
        return {
            "project": project,
            "fetchedAt": instant(self._now()),
            "agents": agents,
            "openMessages": [_line(message) for message in newest],
            "openMessageTotal": total,
            "runs": [],
            "runTotal": 0,
            "homeRuntimes": [],
            "plans": [],
        }


def _line(message: Message) -> dict[str, Any]:
    line: dict[str, Any] = {
        "id": message.id,
        "status": message.status,
        "fromName": message.sender_name,
        "toName": message.recipient_name,
        "delivery": message.delivery,
        "createdAt": instant(message.sent_at),
    }
    return line if message.correlation_id is None else line | {"correlationId": message.correlation_id}


class OpsFeed:
    """One operator's stream: a frame for each topic that changed, at most one a topic and flush."""

    def __init__(self, project: str, now: Callable[[], Millis]) -> None:
        self.project, self._now = project, now
        self._write: Callable[[bytes], None] | None = None
        self._changed: set[str] = set()

    def open(self, write: Callable[[bytes], None]) -> None:
        self._write = write
        write(b"event: ready\ndata: %b\n\n" % encode({"project": self.project}))

    def changed(self, topic: str) -> None:
        self._changed.add(topic)

    def flush(self) -> None:
        if self._write is None:
            return
        for topic in sorted(self._changed):
            data = encode({"type": "ops", "project": self.project, "topic": topic, "at": instant(self._now())})
            self._write(b"event: ops\ndata: %b\n\n" % data)
        self._changed.clear()

    def heartbeat(self) -> None:
        if self._write is not None:
            self._write(HEARTBEAT)

    def closed(self) -> None:
        self._write = None
