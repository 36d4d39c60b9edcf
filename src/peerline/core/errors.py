"""Every refusal a caller can act on.

    PeerlineError
    ├── Invalid           malformed or out of range        400
    ├── Unproven          the caller did not prove itself  401
    ├── Forbidden         the caller may not do this       403
    ├── NotFound          nothing by that name             404
    ├── Conflict          it clashes with what is so       409
    ├── TooLarge          more than is taken at once       413
    ├── WrongMedia        not JSON                         415
    ├── Misdirected       not a host of ours               421
    ├── UpgradeRequired   the address speaks WebSocket     426
    ├── TooMany           come back later                  429
    └── Unavailable       the hub cannot serve it now      503
        └── StorageFull   there is no room on the disk     507

Clients match on `code`. Texts may be reworded; codes may not (spec/hub.md 3.1).
"""

from typing import Any, ClassVar


class PeerlineError(Exception):
    """A refusal; `extras` become further members of the error's JSON body."""

    code: ClassVar[str]

    def __init__(self, text: str, **extras: Any) -> None:
        super().__init__(text)
        self.text = text
        self.extras = extras


class Invalid(PeerlineError):
    code = "protocol_error"


class InvalidJson(Invalid):
    code = "invalid_json"


class InvalidRequest(Invalid):
    """The framing or the Host line of an HTTP request is not acceptable."""

    code = "invalid_request"


class HopLimitReached(Invalid):
    code = "hop_limit_reached"


class RingDetected(Invalid):
    """The target stands in the chain that led to this request."""

    code = "ring_detected"


class HumanNotHere(Invalid):
    """A person is asked for, and the target is an agent of this hub."""

    code = "human_not_here"


class SelfTarget(Invalid):
    code = "self_target"


class InvalidWorkflowContext(Invalid):
    code = "invalid_workflow_context"


class LeaseTokenRequired(Invalid):
    code = "lease_token_required"


class Unproven(PeerlineError):
    code = "invalid_auth"


class InvalidAgentIdentity(Unproven):
    code = "invalid_agent_identity"


class Forbidden(PeerlineError):
    code = "forbidden"


class MessageForbidden(Forbidden):
    code = "message_forbidden"


class WorkflowContextForbidden(Forbidden):
    code = "workflow_context_forbidden"


class OriginNotAllowed(Forbidden):
    code = "origin_not_allowed"


class PresenceStreamForbidden(Forbidden):
    code = "presence_stream_forbidden"


class NameReserved(Forbidden):
    code = "name_reserved"


class LocalOnly(Forbidden):
    code = "local_only"


class PersonOnly(Forbidden):
    code = "person_only"


class GatewayOnly(Forbidden):
    code = "gateway_only"


class NotFound(PeerlineError):
    code = "not_found"


class RouteNotFound(NotFound):
    code = "route_not_found"


class MessageNotFound(NotFound):
    code = "message_not_found"


class TargetNotFound(NotFound):
    code = "target_not_found"


class LeaseNotFound(NotFound):
    code = "lease_not_found"


class TokenNotFound(NotFound):
    code = "token_not_found"


class McpNotInstalled(NotFound):
    """This hub has no `/mcp`: the package it needs is not there."""

    code = "mcp_not_installed"


class Conflict(PeerlineError):
    code = "conflict"


class TargetAmbiguous(Conflict):
    """A lone name, and agents of several rooms have it."""

    code = "target_ambiguous"


class DuplicateAgentName(Conflict):
    code = "duplicate_agent_name"


class IdempotencyConflict(Conflict):
    code = "idempotency_conflict"


class WrongState(Conflict):
    code = "invalid_message_state"


class DuplicateReply(Conflict):
    code = "duplicate_reply"


class TokenEnded(Conflict):
    """The token was revoked or has expired."""

    code = "token_ended"


class NoteLimitReached(Conflict):
    code = "note_limit_reached"


class PairHeld(Conflict):
    """So much between these two agents is held that no more is taken."""

    code = "pair_held"


class LeaseHeld(Conflict):
    code = "lease_held"


class LeaseSuperseded(Conflict):
    code = "lease_superseded"


class LeaseExpired(Conflict):
    code = "lease_expired"


class TooLarge(PeerlineError):
    code = "payload_too_large"


class WrongMedia(PeerlineError):
    code = "unsupported_media_type"


class Misdirected(PeerlineError):
    code = "host_not_allowed"


class TooMany(PeerlineError):
    code = "rate_limited"


class RecipientQueueFull(TooMany):
    code = "recipient_queue_full"


class TooManyStreams(TooMany):
    code = "stream_limit_reached"


class UpgradeRequired(PeerlineError):
    """The address speaks WebSocket only."""

    code = "upgrade_required"


class Unavailable(PeerlineError):
    code = "unavailable"


class Busy(Unavailable):
    """Another process holds the database's write lock."""

    code = "busy"


class StorageFailed(Unavailable):
    """The disk refused a read or a write."""

    code = "storage_failed"


class AdminAuthNotConfigured(Unavailable):
    code = "admin_auth_not_configured"


class Stopping(Unavailable):
    code = "hub_stopping"


class StorageFull(Unavailable):
    code = "storage_full"
