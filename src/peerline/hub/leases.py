"""Leases on named things, decided inside one transaction by the hub's clock (spec/hub.md 3.10)."""

from collections.abc import Callable
from typing import Any

from peerline.core import lease as rules
from peerline.core.agent import Agent
from peerline.core.errors import LeaseHeld
from peerline.core.ids import Millis
from peerline.core.lease import Lease
from peerline.database.later import Later
from peerline.hub.journal import Journal
from peerline.store.api import Store, Tx

KEPT_MS = 7 * 86_400_000
LISTED = 1_000


class Leases:
    def __init__(self, store: Store, journal: Journal, now: Callable[[], Millis]) -> None:
        self._store, self._journal, self._now = store, journal, now

    def live(self, project: str) -> Later[list[Lease]]:
        """Who holds what in the project now, by the names of the things; the first thousand."""
        now = self._now()
        return self._store.write(lambda tx: tx.leases.live(project, now, LISTED))

    def acquire(self, name: str, by: Agent, ttl_ms: int) -> Later[tuple[Lease, bool]]:
        """The lease, and whether it only extended the caller's own."""
        now = self._now()

        def work(tx: Tx) -> tuple[Lease, bool]:
            before = tx.leases.by_name(by.project, name)
            lease, renewed = rules.acquired(
                before, project=by.project, name=name, by=by.id, by_name=by.name, ttl_ms=ttl_ms, now=now
            )
            tx.leases.save(lease)
            return lease, renewed

        later = self._store.write(work)
        later.then(lambda done: self._tell("lease_acquired", name, by, done))
        return later

    def renew(self, name: str, by: Agent, token: int, ttl_ms: int) -> Later[Lease]:
        now = self._now()

        def work(tx: Tx) -> Lease:
            lease = rules.renewed(tx.leases.by_name(by.project, name), by=by.id, token=token, ttl_ms=ttl_ms, now=now)
            tx.leases.save(lease)
            return lease

        later = self._store.write(work)
        later.then(lambda done: self._tell("lease_renewed", name, by, done))
        return later

    def release(self, name: str, by: Agent, token: int) -> Later[Lease]:
        """Give it back; an expired one that nobody took may be given back too."""

        def work(tx: Tx) -> Lease:
            lease = rules.held(tx.leases.by_name(by.project, name), by=by.id, token=token)
            tx.leases.delete(lease)
            return lease

        later = self._store.write(work)
        later.then(lambda done: self._tell("lease_released", name, by, done))
        return later

    def purge(self) -> Later[int]:
        before = self._now() - KEPT_MS
        return self._store.write(lambda tx: tx.leases.purge(before))

    def _tell(self, event: str, name: str, by: Agent, done: Later[Any]) -> None:
        about = {"lease": f"{by.project}/{name}", "agent": by.id, "project": by.project}
        if not done.failed:
            self._journal.event(event, **about)
        elif isinstance(done.error, LeaseHeld):
            self._journal.event("lease_denied", **about)
