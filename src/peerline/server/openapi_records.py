"""What answers hold, as JSON Schema, for `/openapi.json`; the fuzz test holds each live answer against it."""

from collections.abc import Mapping, Sequence
from typing import Any, Final

from peerline.core.agent import Presence
from peerline.core.directory import PRESENCE
from peerline.core.message import Delivery, Status

Schema = dict[str, Any]


def of(required: Mapping[str, Any], optional: Mapping[str, Any] | None = None) -> Schema:
    """An object with exactly these members."""
    properties = {**required, **(optional or {})}
    return {
        "type": "object",
        "properties": properties,
        "required": list(required),
        "additionalProperties": False,
    }


def ref(name: str) -> Schema:
    return {"$ref": f"#/components/schemas/{name}"}


def many(name: str) -> Schema:
    return {"type": "array", "items": ref(name)}


def one_of(values: Sequence[str]) -> Schema:
    return {"type": "string", "enum": [str(value) for value in values]}


TEXT: Final[Schema] = {"type": "string"}
WHOLE: Final[Schema] = {"type": "integer"}
FLAG: Final[Schema] = {"type": "boolean"}
MOMENT: Final[Schema] = {
    "type": "string",
    "format": "date-time",
    "pattern": r"^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$",
}

_KNOWN: Final[tuple[Schema, Schema]] = (
    {"presence": one_of(PRESENCE)},
    {"lastSeenAt": MOMENT, "usualDelayMs": WHOLE},
)
_REMOTE: Final[Schema] = {
    **dict.fromkeys(("id", "name", "project", "room", "network"), TEXT),
    "remote": FLAG,
    "online": FLAG,
}
_HEAD: Final[Schema] = {
    "id": TEXT,
    "project": TEXT,
    "from": TEXT,
    "fromName": TEXT,
    "to": TEXT,
    "toName": TEXT,
    "delivery": one_of(list(Delivery)),
    "hops": WHOLE,
    "maxHops": WHOLE,
    "seq": WHOLE,
    "createdAt": MOMENT,
    "expiresAt": MOMENT,
    "status": one_of([*Status, "error"]),
}
_LATER: Final[Schema] = {
    "needs": one_of(("human",)),
    "correlationId": TEXT,
    "replyTo": TEXT,
    "idempotencyKey": TEXT,
    "path": {"type": "array", "items": TEXT},
    "heldAt": MOMENT,
    "held": {"type": "string", "description": "Why it is held, and how a person lets it go."},
    "workflowRunId": TEXT,
    "workflowContext": {"type": "object"},
    "deliveredAt": MOMENT,
    "repliedAt": MOMENT,
    "cancelledAt": MOMENT,
    "error": TEXT,
}

RECORDS: Final[dict[str, Schema]] = {
    "Agent": of(
        {
            "id": TEXT,
            "name": TEXT,
            "purpose": TEXT,
            "project": TEXT,
            "connectedAt": MOMENT,
            "lastSeenAt": MOMENT,
            "online": FLAG,
            "leaseExpiresAt": MOMENT,
            "presence": one_of(list(Presence)),
        },
        {"model": TEXT, "host": TEXT, "branch": TEXT},
    ),
    "Message": of({**_HEAD, "content": TEXT}, {**_LATER, "reply": of({"content": TEXT, "createdAt": MOMENT})}),
    "MessageHead": of(_HEAD, _LATER),
    "OpenMessage": of(
        {
            "id": TEXT,
            "status": _HEAD["status"],
            "fromName": TEXT,
            "toName": TEXT,
            "delivery": _HEAD["delivery"],
            "createdAt": MOMENT,
        },
        {"correlationId": TEXT},
    ),
    "Fact": of({"at": MOMENT, "fact": TEXT, "observer": TEXT}, {"detail": TEXT}),
    "Note": of({"number": WHOLE, "content": TEXT, "createdAt": MOMENT}),
    "Lease": of(
        {
            "resource": TEXT,
            "project": TEXT,
            "name": TEXT,
            "holderAgentId": TEXT,
            "holderAgentName": TEXT,
            "fencingToken": WHOLE,
            "acquiredAt": MOMENT,
            "expiresAt": MOMENT,
        }
    ),
    "PairEnd": of({"id": TEXT, "name": TEXT}),
    "RefusedSend": of({"at": MOMENT, "target": TEXT, "code": TEXT, "why": TEXT, "next": TEXT, "times": WHOLE}),
    "RemoteAgent": of(_REMOTE | _KNOWN[0], _KNOWN[1]),
    "HeldPair": of({"agents": many("PairEnd"), "held": WHOLE, "since": MOMENT, "next": TEXT}),
    "ProjectToken": of(
        {
            "id": TEXT,
            "project": TEXT,
            "label": TEXT,
            "state": one_of(("live", "rotated", "expired", "revoked")),
            "local": FLAG,
            "createdAt": MOMENT,
        },
        {"expiresAt": MOMENT, "revokedAt": MOMENT, "scope": TEXT},
    ),
}

# The one shape of a refusal; further members say more about some codes.
ERROR: Final[Schema] = {
    "type": "object",
    "required": ["error", "code", "requestId"],
    "properties": {
        "error": {"type": "string", "description": "For people; may be reworded."},
        "code": TEXT,
        "requestId": TEXT,
        "nextAction": TEXT,
        "detail": TEXT,
        "operation": TEXT,
        "lease": ref("Lease"),
    },
}
HEADERS: Final[dict[str, Schema]] = {
    "x-request-id": {"schema": TEXT, "required": True},
    "x-ratelimit-limit": {"schema": WHOLE},
    "x-ratelimit-remaining": {"schema": WHOLE},
    "retry-after": {"schema": WHOLE, "description": "Seconds."},
}

_EITHER: Final[Schema] = {"anyOf": [ref("Message"), ref("MessageHead")]}  # as it was preferred
_MESSAGE = of({"message": ref("Message")})
_MADE = {"token": ref("ProjectToken"), "secret": TEXT, "closedToAdminNow": FLAG, "adminTokenAccepted": FLAG}
_STREAM: Final[Schema] = {
    "type": "string",
    "description": "Frames of server-sent events: ready, message, reply, cancelled, expired, presence and, if asked"
    " for, note. `id` is the resume token to send as Last-Event-ID. A comment every 15 s.",
}

# What each route answers when it went well: media type and schema.
ANSWERS: Final[dict[tuple[str, str], Schema]] = {
    ("GET", "/health"): of({"ok": FLAG, "agents": WHOLE, "version": TEXT}, {"degraded": FLAG, "detail": TEXT}),
    ("GET", "/ready"): of({"ok": FLAG, "storage": one_of(("sqlite", "memory"))}),
    ("GET", "/metrics"): TEXT,
    ("GET", "/openapi.json"): {"type": "object"},
    ("POST", "/v1/agents/register"): of({"agent": ref("Agent"), "agentKey": TEXT, "resumed": FLAG}, {"warning": TEXT}),
    ("GET", "/v1/agents"): of({"agents": {"type": "array", "items": {"anyOf": [ref("Agent"), ref("RemoteAgent")]}}}),
    ("POST", "/v1/agents/remote"): of({"published": WHOLE}),
    ("POST", "/v1/agents/{id}/heartbeat"): of({"agent": ref("Agent")}),
    ("GET", "/v1/agents/{id}/inbox"): of({"messages": many("Message")}),
    ("POST", "/v1/local/token"): of({"project": TEXT, "token": TEXT, "id": TEXT}),
    ("GET", "/v1/local/projects"): of({"projects": {"type": "array", "items": TEXT}}),
    ("POST", "/v1/messages"): of(
        {"message": _EITHER, "idempotent": FLAG},
        {"remote": of({"follows": one_of(("yes", "no", "unknown"))}, {**_KNOWN[0], **_KNOWN[1]})},
    ),
    ("GET", "/v1/messages"): of({"messages": many("Message")}),
    ("GET", "/v1/messages/{id}"): _MESSAGE,
    ("DELETE", "/v1/messages/{id}"): _MESSAGE,
    ("POST", "/v1/messages/{id}/ack"): of({"message": _EITHER, "first": FLAG}),
    ("POST", "/v1/messages/{id}/reply"): of({"message": _EITHER}),
    ("GET", "/v1/messages/{id}/trail"): of(
        {"message": ref("MessageHead"), "facts": many("Fact"), "standing": TEXT, "next": TEXT, "stuck": FLAG}
    ),
    ("POST", "/v1/messages/{id}/facts"): of({"messageId": TEXT, "fact": ref("Fact")}),
    ("POST", "/v1/messages/{id}/notes"): of({"messageId": TEXT, "note": ref("Note")}),
    ("GET", "/v1/messages/{id}/notes"): of({"notes": many("Note")}),
    ("GET", "/v1/events"): _STREAM,
    ("POST", "/v1/watch/tickets"): of({"url": TEXT, "expiresAt": MOMENT}),
    ("GET", "/v1/pairs"): of({"pairs": many("HeldPair")}),
    ("POST", "/v1/pairs/continue"): of({"agents": many("PairEnd"), "released": WHOLE}),
    ("GET", "/v1/refused"): of({"refused": many("RefusedSend")}),
    ("GET", "/v1/leases"): of({"leases": many("Lease")}),
    ("POST", "/v1/leases/{name}/acquire"): of({"lease": ref("Lease"), "renewed": FLAG}),
    ("POST", "/v1/leases/{name}/renew"): of({"lease": ref("Lease"), "renewed": FLAG}),
    ("POST", "/v1/leases/{name}/release"): of({"lease": ref("Lease"), "released": FLAG}),
    ("GET", "/v1/ops/snapshot"): of(
        {
            "project": TEXT,
            "fetchedAt": MOMENT,
            "agents": many("Agent"),
            "openMessages": many("OpenMessage"),
            "openMessageTotal": WHOLE,
            "runs": {"type": "array"},
            "runTotal": WHOLE,
            "homeRuntimes": {"type": "array"},
            "plans": {"type": "array"},
        }
    ),
    ("GET", "/v1/ops/events"): {**_STREAM, "description": "Frames: ready, then ops with the topic that changed."},
    ("GET", "/v1/projects/{project}/tokens"): of(
        {"tokens": many("ProjectToken"), "configured": FLAG, "adminTokenAccepted": FLAG}
    ),
    ("POST", "/v1/projects/{project}/tokens"): of(_MADE),
    ("POST", "/v1/projects/{project}/tokens/{id}/rotate"): of({**_MADE, "replaced": ref("ProjectToken")}),
    ("DELETE", "/v1/projects/{project}/tokens/{id}"): of({"token": ref("ProjectToken"), "adminTokenAccepted": FLAG}),
}
MEDIA: Final = {
    "/metrics": "text/plain",
    "/v1/events": "text/event-stream",
    "/v1/ops/events": "text/event-stream",
}
