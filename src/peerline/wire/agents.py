"""Agents on the wire (spec/hub.md 3.5, 3.7)."""

from typing import Any

from peerline.core import limits
from peerline.core.agent import Agent, Presence
from peerline.wire.fields import Choice, Field, Text
from peerline.wire.instants import instant

REGISTER: tuple[Field, ...] = (
    Text("name", limits.NAME, required=True),
    Text("purpose", limits.PURPOSE, default="General-purpose Pi agent"),
    Text("project", limits.PROJECT, required=True),
    Text("model", limits.MODEL),
    Text("host", limits.HOST),
    Text("resume", limits.ID),
    Text("branch", limits.BRANCH),
)
LOCAL_TOKEN: tuple[Field, ...] = (
    Text("project", limits.PROJECT, required=True),
    Choice("scope", ("project", "gateway"), "project", "scope must be project or gateway"),
)


def record(agent: Agent, presence: Presence, lease_ms: int) -> dict[str, Any]:
    """The public record; never a key."""
    out: dict[str, Any] = {
        "id": agent.id,
        "name": agent.name,
        "purpose": agent.purpose,
        "project": agent.project,
        "connectedAt": instant(agent.connected_at),
        "lastSeenAt": instant(agent.last_seen_at),
        "online": presence is not Presence.OFFLINE,
        "leaseExpiresAt": instant(agent.last_seen_at + lease_ms),
        "presence": presence,
    }
    if agent.model is not None:
        out["model"] = agent.model
    if agent.host is not None:
        out["host"] = agent.host
    if agent.branch is not None:
        out["branch"] = agent.branch
    return out
