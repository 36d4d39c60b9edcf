"""Agents that work through a real socket and write everything they do and hear into a history."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from .connection import Answer, Connection, Gone, frames
from .history import Act, History, Operation, Record
from .victim import TOKEN

PROJECT = "faults"


def milliseconds(iso: str) -> int:
    return round(datetime.fromisoformat(iso).timestamp() * 1000)


def record(message: Mapping[str, Any]) -> Record:
    """The wire's message as the checker compares it."""
    return Record(
        id=message["id"],
        sender=message["from"],
        recipient=message["to"],
        content=message["content"],
        key=message.get("idempotencyKey"),
        status=message["status"],
        reply=message["reply"]["content"] if "reply" in message else None,
        expires_ms=milliseconds(message["expiresAt"]),
    )


async def admit(connection: Connection, name: str, project: str = PROJECT, **more: str) -> dict[str, str]:
    """Register `name`; the headers that prove it."""
    bearer = {"authorization": f"Bearer {TOKEN}"}
    answer = await connection.ask("POST", "/v1/agents/register", {"name": name, "project": project, **more}, bearer)
    assert answer.status in (200, 201), answer.body
    return {**bearer, "x-kxm-agent-id": answer.json()["agent"]["id"], "x-kxm-agent-key": answer.json()["agentKey"]}


@dataclass(slots=True)
class Peer:
    """One agent on one connection. `heard` are the requests that it knows to be its own to answer."""

    name: str
    history: History
    connection: Connection
    headers: dict[str, str] = field(default_factory=dict)
    heard: list[str] = field(default_factory=list)
    sent: list[Operation] = field(default_factory=list)

    @property
    def id(self) -> str:
        return self.headers["x-kxm-agent-id"]

    async def register(self) -> None:
        self.headers = await admit(self.connection, self.name)

    async def _done(self, operation: Operation, method: str, path: str, body: Mapping[str, object] | None) -> Answer:
        answer = await self.connection.ask(method, path, body, self.headers)
        if answer.status == 503 and answer.json().get("nextAction") == "repeat_with_the_same_idempotency_key":
            return answer  # an honest "I do not know": the operation stays without an outcome
        seen = record(answer.json()["message"]) if answer.status < 400 else None
        self.history.end(operation, answer.status, answer.code, seen)
        return answer

    async def send(self, target: str, text: str, key: str | None, ttl_ms: int = 3_600_000) -> Answer:
        operation = self.history.begin(self.id, Act.SEND, text=text, key=key)
        self.sent.append(operation)
        body: dict[str, object] = {"target": target, "content": text, "ttlMs": ttl_ms, "allowOffline": True}
        if key is not None:
            body["idempotencyKey"] = key
        return await self._done(operation, "POST", "/v1/messages", body)

    async def acknowledge(self, message: str) -> Answer:
        operation = self.history.begin(self.id, Act.ACKNOWLEDGE, message=message)
        return await self._done(operation, "POST", f"/v1/messages/{message}/ack", {})

    async def reply(self, message: str, text: str) -> Answer:
        operation = self.history.begin(self.id, Act.REPLY, message=message, text=text)
        return await self._done(operation, "POST", f"/v1/messages/{message}/reply", {"content": text})

    async def cancel(self, message: str) -> Answer:
        operation = self.history.begin(self.id, Act.CANCEL, message=message)
        return await self._done(operation, "DELETE", f"/v1/messages/{message}", None)

    async def get(self, message: str) -> Answer:
        operation = self.history.begin(self.id, Act.GET, message=message)
        return await self._done(operation, "GET", f"/v1/messages/{message}", None)

    async def wait(self, message: str, wait_ms: int) -> Answer:
        operation = self.history.begin(self.id, Act.AWAIT, message=message)
        return await self._done(operation, "GET", f"/v1/messages/{message}?waitMs={wait_ms}", None)

    async def inbox(self) -> list[Record]:
        answer = await self.connection.ask("GET", f"/v1/agents/{self.id}/inbox", None, self.headers)
        assert answer.status == 200, answer.body
        return [record(message) for message in answer.json()["messages"]]

    async def listen(self, source: str = "127.0.0.1") -> None:
        """Write what the stream says into the history until the hub or the caller ends it."""
        opened = self.history.tick()
        path = f"/v1/events?agentId={self.id}"
        try:
            async for frame in frames(self.connection.port, path, self.headers, source=source):
                self.hear(opened, frame.event, frame.data)
        except Gone:
            return

    def hear(self, opened: int, event: str, data: Mapping[str, Any]) -> None:
        if "message" not in data or event not in ("message", "reply", "cancelled", "expired"):
            return
        seen = record(data["message"])
        act = Act.PUSHED if event == "message" else Act.TOLD
        operation = self.history.begin(self.id, act, message=seen.id, began=opened)
        self.history.end(operation, 200, "", seen)
        if act is Act.PUSHED:
            self.heard.append(seen.id)
