"""Routes of leases (spec/hub.md 3.10)."""

from typing import Any

from peerline.core import limits
from peerline.core.errors import Invalid, LeaseHeld, LeaseTokenRequired
from peerline.core.lease import Lease
from peerline.core.text import trim, utf16_length
from peerline.database.later import Later
from peerline.hub.leases import Leases
from peerline.server.exchange import Answer
from peerline.server.refusals import json_answer
from peerline.server.routes import Call, Proof, Route
from peerline.wire.fields import Field, Integer, Opaque
from peerline.wire.instants import instant

TTL = Integer("ttlMs", limits.LEASE_TTL_MIN_MS, limits.LEASE_TTL_MAX_MS, limits.LEASE_TTL_DEFAULT_MS)
TOKEN = Integer("fencingToken", 1, limits.JSON_INTEGER)
ACQUIRE: tuple[Field, ...] = (TTL,)
RENEW: tuple[Field, ...] = (Opaque("fencingToken", TOKEN.schema()), TTL)
RELEASE: tuple[Field, ...] = (Opaque("fencingToken", TOKEN.schema()),)


class LeaseRoutes:
    def __init__(self, leases: Leases) -> None:
        self._leases = leases

    def routes(self) -> list[Route]:
        agent = Proof.AGENT
        return [
            Route("GET", "/v1/leases", agent, self.list, None, "Who holds what in the project now."),
            Route("POST", "/v1/leases/{name}/acquire", agent, self.acquire, ACQUIRE, "Hold a named thing for a while."),
            Route("POST", "/v1/leases/{name}/renew", agent, self.renew, RENEW, "Hold it longer."),
            Route("POST", "/v1/leases/{name}/release", agent, self.release, RELEASE, "Give it back."),
        ]

    def list(self, call: Call) -> Answer:
        later = self._leases.live(call.by.agent.project)
        return later.map(lambda found: json_answer({"leases": [_record(lease) for lease in found]}))

    def acquire(self, call: Call) -> Answer:
        name, ttl_ms = _name(call), TTL.read(call.body)
        later = self._leases.acquire(name, call.by.agent, ttl_ms)
        return _with_holder(later).map(lambda done: json_answer({"lease": _record(done[0]), "renewed": done[1]}))

    def renew(self, call: Call) -> Answer:
        name, token, ttl_ms = _name(call), _token(call), TTL.read(call.body)
        later = self._leases.renew(name, call.by.agent, token, ttl_ms)
        return later.map(lambda lease: json_answer({"lease": _record(lease), "renewed": True}))

    def release(self, call: Call) -> Answer:
        later = self._leases.release(_name(call), call.by.agent, _token(call))
        return later.map(lambda lease: json_answer({"released": True, "lease": _record(lease)}))


def _with_holder(later: Later[tuple[Lease, bool]]) -> Later[tuple[Lease, bool]]:
    """A refusal that shows whose lease it is, on the wire's form."""
    after: Later[tuple[Lease, bool]] = Later()

    def settled(done: Later[tuple[Lease, bool]]) -> None:
        error = done.error
        if isinstance(error, LeaseHeld):
            after.fail(LeaseHeld(error.text, lease=_record(error.extras["lease"]), nextAction="wait_until_it_expires"))
        elif error is not None:
            after.fail(error)
        else:
            after.succeed(done.result())

    later.then(settled)
    return after


def _name(call: Call) -> str:
    name = trim(call.parameters["name"])
    if not name:
        raise Invalid("lease name cannot be empty")
    if utf16_length(name) > limits.LEASE_NAME:
        raise Invalid(f"lease name exceeds {limits.LEASE_NAME} characters")
    return name


def _token(call: Call) -> int:
    if call.body.get("fencingToken") is None:
        raise LeaseTokenRequired("fencingToken is required")
    return TOKEN.read(call.body)


def _record(lease: Lease) -> dict[str, Any]:
    return {
        "resource": f"{lease.project}/{lease.name}",
        "project": lease.project,
        "name": lease.name,
        "holderAgentId": lease.holder,
        "holderAgentName": lease.holder_name,
        "fencingToken": lease.fencing_token,
        "acquiredAt": instant(lease.acquired_at),
        "expiresAt": instant(lease.expires_at),
    }
