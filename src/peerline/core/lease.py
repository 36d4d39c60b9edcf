"""A named thing that one agent holds for a while, with a fencing token that only grows (spec/hub.md 3.10)."""

from typing import NamedTuple

from peerline.core.errors import LeaseExpired, LeaseHeld, LeaseNotFound, LeaseSuperseded
from peerline.core.ids import AgentId, Millis


class Lease(NamedTuple):
    project: str
    name: str
    holder: AgentId
    holder_name: str
    fencing_token: int
    acquired_at: Millis
    expires_at: Millis

    def live(self, now: Millis) -> bool:
        return now < self.expires_at


def acquired(
    before: Lease | None, *, project: str, name: str, by: AgentId, by_name: str, ttl_ms: int, now: Millis
) -> tuple[Lease, bool]:
    """The lease after `by` asked for it, and whether it only extended its own.

    Raises:
        LeaseHeld: another agent's lease still runs; carries it.
    """
    if before is None:
        return Lease(project, name, by, by_name, 1, now, now + ttl_ms), False
    if before.live(now):
        if before.holder != by:
            raise LeaseHeld(f"lease is held by {before.holder_name}", lease=before)
        return before._replace(expires_at=now + ttl_ms), True
    return Lease(project, name, by, by_name, before.fencing_token + 1, now, now + ttl_ms), False


def renewed(before: Lease | None, *, by: AgentId, token: int, ttl_ms: int, now: Millis) -> Lease:
    lease = held(before, by=by, token=token)
    if not lease.live(now):
        raise LeaseExpired("lease expired; acquire it again", nextAction="acquire_it_again")
    return lease._replace(expires_at=now + ttl_ms)


def held(before: Lease | None, *, by: AgentId, token: int) -> Lease:
    """The lease, if `by` holds it under `token`.

    Raises:
        LeaseNotFound, LeaseSuperseded
    """
    if before is None:
        raise LeaseNotFound("lease not found")
    if before.holder != by or before.fencing_token != token:
        raise LeaseSuperseded(
            "lease was taken over; stop using what it protects", nextAction="stop_the_work_it_protected"
        )
    return before
