"""Which refusals each route can answer with, for `/openapi.json`; the fuzz test finds what is missing here."""

from typing import Final

from peerline.core import errors
from peerline.core.errors import PeerlineError
from peerline.server.framing import REQUEST_TIMEOUT
from peerline.server.refusals import status_of
from peerline.server.routes import Proof, Route

Refusal = type[PeerlineError]

_STORE: Final[tuple[Refusal, ...]] = (
    errors.Busy,
    errors.StorageFailed,
    errors.StorageFull,
    errors.Stopping,
)
_ONE_MESSAGE: Final[tuple[Refusal, ...]] = (errors.MessageNotFound, errors.MessageForbidden)
_ONE_LEASE: Final[tuple[Refusal, ...]] = (errors.LeaseNotFound, errors.LeaseSuperseded)
# What a route refuses beyond what every route with its proof and its fields does.
REFUSES: Final[dict[tuple[str, str], tuple[Refusal, ...]]] = {
    ("POST", "/v1/agents/register"): (errors.NameReserved, errors.DuplicateAgentName, errors.Unproven),
    ("POST", "/v1/agents/remote"): (errors.GatewayOnly,),
    ("POST", "/v1/agents/{id}/heartbeat"): (),
    ("POST", "/v1/local/token"): (errors.LocalOnly,),
    ("GET", "/v1/local/projects"): (errors.LocalOnly,),
    ("POST", "/v1/messages"): (
        errors.HopLimitReached,
        errors.RingDetected,
        errors.SelfTarget,
        errors.InvalidWorkflowContext,
        errors.WorkflowContextForbidden,
        errors.TargetNotFound,
        errors.TargetAmbiguous,
        errors.HumanNotHere,
        errors.IdempotencyConflict,
        errors.RecipientQueueFull,
        errors.PairHeld,
    ),
    ("GET", "/v1/messages/{id}"): _ONE_MESSAGE,
    ("DELETE", "/v1/messages/{id}"): (*_ONE_MESSAGE, errors.WrongState),
    ("POST", "/v1/messages/{id}/ack"): (*_ONE_MESSAGE, errors.WrongState),
    ("POST", "/v1/messages/{id}/reply"): (*_ONE_MESSAGE, errors.WrongState, errors.DuplicateReply),
    ("GET", "/v1/messages/{id}/trail"): _ONE_MESSAGE,
    ("POST", "/v1/messages/{id}/facts"): (*_ONE_MESSAGE, errors.GatewayOnly),
    ("POST", "/v1/messages/{id}/notes"): (*_ONE_MESSAGE, errors.WrongState, errors.NoteLimitReached),
    ("GET", "/v1/messages/{id}/notes"): _ONE_MESSAGE,
    ("GET", "/v1/events"): (
        errors.Unproven,
        errors.InvalidAgentIdentity,
        errors.PresenceStreamForbidden,
        errors.TooManyStreams,
    ),
    ("GET", "/v1/ops/events"): (errors.TooManyStreams,),
    ("POST", "/v1/pairs/continue"): (errors.PersonOnly, errors.TargetNotFound, errors.SelfTarget),
    ("POST", "/v1/leases/{name}/acquire"): (errors.LeaseHeld,),
    ("POST", "/v1/leases/{name}/renew"): (errors.LeaseTokenRequired, *_ONE_LEASE, errors.LeaseExpired),
    ("POST", "/v1/leases/{name}/release"): (errors.LeaseTokenRequired, *_ONE_LEASE),
    ("POST", "/v1/projects/{project}/tokens/{id}/rotate"): (errors.TokenNotFound, errors.TokenEnded),
    ("DELETE", "/v1/projects/{project}/tokens/{id}"): (errors.TokenNotFound,),
}


def codes() -> list[str]:
    """Every code that an answer can carry."""
    found = {"internal_error", REQUEST_TIMEOUT}
    todo: list[Refusal] = [PeerlineError]
    while todo:
        kind = todo.pop()
        if code := vars(kind).get("code"):
            found.add(code)
        todo += kind.__subclasses__()
    return sorted(found)


def refusals(route: Route) -> dict[int, list[str]]:
    """Status to codes: what every route refuses, what its proof and its fields add, and what is its own."""
    kinds: list[Refusal] = [errors.InvalidRequest, errors.TooLarge, errors.OriginNotAllowed, errors.Misdirected]
    if route.limited:
        kinds.append(errors.TooMany)
    if route.proof is Proof.AGENT:
        kinds += [errors.InvalidAgentIdentity, errors.Unproven]
    elif route.proof in (Proof.ADMIN, Proof.ADMIN_CONFIGURED):
        kinds.append(errors.Unproven)
    if route.proof is Proof.ADMIN_CONFIGURED:
        kinds.append(errors.AdminAuthNotConfigured)
    if "{" in route.path:
        # A parameter that is empty, or holds a slash, names another route or none.
        kinds += [errors.Invalid, errors.RouteNotFound]
    if route.query:
        kinds.append(errors.Invalid)
    if route.fields is not None:
        kinds += [errors.Invalid, errors.InvalidJson, errors.WrongMedia]
    if route.proof is not Proof.NONE:
        kinds += _STORE
    kinds += REFUSES.get((route.method, route.path), ())
    found: dict[int, set[str]] = {408: {REQUEST_TIMEOUT}, 500: {"internal_error"}}
    for kind in kinds:
        found.setdefault(status_of(kind("")), set()).add(kind.code)
    return {status: sorted(named) for status, named in found.items()}
