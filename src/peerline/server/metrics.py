"""`/metrics` in Prometheus' text form (spec/hub.md 9.12): what is counted is read here, and costs nobody before."""

import asyncio
from collections.abc import Callable, Mapping
from typing import Final

from peerline.core.ids import Millis
from peerline.database.checkpoint import Checkpoints
from peerline.database.later import Later
from peerline.database.measure import Measure
from peerline.hub.agents import Agents
from peerline.hub.journal import Journal
from peerline.hub.wakeups import Wakeups
from peerline.server.exchange import Answer, Response
from peerline.server.exposition import CONTENT_TYPE, Series, Snapshot, render
from peerline.server.routes import Call, Proof, Route
from peerline.store.api import Store, Tx

Pending = tuple[Millis | None, int]
"""When the oldest message that nobody has taken was sent, and how many there are."""

HEADERS: Final = (
    ("content-type", CONTENT_TYPE),
    ("cache-control", "no-store"),
    ("x-content-type-options", "nosniff"),
)
# The contract's names; each is there from the start, so that a rate can be taken of it.
COUNTERS: Final[Mapping[str, str]] = {
    "kxm_requests_total": "HTTP requests, refused ones included",
    "kxm_errors_total": "HTTP requests that were refused or failed",
    "kxm_registrations_total": "sessions opened for an agent",
    "kxm_messages_sent_total": "messages accepted, held ones when they are let go",
    "kxm_messages_held_total": "messages held because two agents only talked to each other",
    "kxm_messages_replied_total": "messages replied",
    "kxm_messages_cancelled_total": "messages cancelled",
    "kxm_messages_expired_total": "messages expired",
    "kxm_messages_purged_total": "messages deleted after retention",
    "kxm_leases_granted_total": "leases acquired",
    "kxm_leases_refused_total": "leases refused because another agent held them",
    "kxm_leases_released_total": "leases given back",
}


class MetricRoutes:
    def __init__(
        self,
        store: Store,
        agents: Agents,
        wakeups: Wakeups,
        journal: Journal,
        checkpoints: Checkpoints,
        measure: Measure,
        now: Callable[[], Millis],
        version: str,
        pending: Callable[[], Pending] | None = None,
    ) -> None:
        """`pending` looks at the store from another thread: with many open messages that takes longer than anybody
        should wait for a message. None: the store has no file that could be looked at."""
        self._store, self._agents, self._wakeups, self._journal = store, agents, wakeups, journal
        self._checkpoints, self._measure = checkpoints, measure
        self._now, self._version, self._pending = now, version, pending
        self._timed: tuple[Route, ...] = ()
        self._stored_before: int | None = None

    def routes(self) -> list[Route]:
        return [Route("GET", "/metrics", Proof.ADMIN, self.metrics, None, "Counters and latencies, for Prometheus.")]

    def time(self, routes: tuple[Route, ...]) -> None:
        """Tell whose durations are shown: the routes as they are served."""
        self._timed = routes

    def metrics(self, call: Call) -> Answer:
        """The table is counted once, at the first call; from then on what was sent and purged says the rest.

        The text is made on a thread too: loading the library takes its time.
        """
        after: Later[Response] = Later()
        loop = asyncio.get_running_loop()
        count_all, pending = self._stored_before is None, self._pending

        def read(tx: Tx) -> tuple[Pending | None, int]:
            return (
                tx.messages.oldest_pending() if pending is None else None,
                tx.messages.count() if count_all else 0,
            )

        def rendered(done: asyncio.Future[bytes]) -> None:
            error = done.exception()
            if error is not None:
                after.fail(error)
            else:
                after.succeed(Response(status=200, headers=HEADERS, body=done.result()))

        def looked(done: Later[tuple[Pending | None, int]]) -> None:
            if done.error is not None:
                after.fail(done.error)
                return
            found, stored = done.result()
            if count_all:
                self._stored_before = stored - self._balance()
            snapshot = self._snapshot()

            def write() -> bytes:
                return render(self._with_pending(snapshot, found or (pending() if pending else (None, 0))))

            loop.run_in_executor(None, write).add_done_callback(rendered)

        self._store.write(read).then(looked)
        return after

    def _balance(self) -> int:
        counted = self._journal.counters
        return counted.get("kxm_messages_sent_total", 0) - counted.get("kxm_messages_purged_total", 0)

    def _with_pending(self, snapshot: Snapshot, found: Pending) -> Snapshot:
        oldest, queued = found
        age_ms = 0 if oldest is None else max(0, self._now() - oldest)
        more = (
            ("kxm_undelivered_messages", "messages that no recipient has taken yet", queued),
            ("kxm_oldest_unacknowledged_seconds", "age of the oldest of them", age_ms / 1000),
        )
        return snapshot._replace(gauges=(*snapshot.gauges, *more))

    def _snapshot(self) -> Snapshot:
        counted = self._journal.counters
        gauges = (
            ("kxm_online_agents", "agents that are online", self._agents.online_count()),
            ("kxm_messages", "messages in the store", (self._stored_before or 0) + self._balance()),
            ("kxm_open_streams", "open push streams", self._wakeups.streams),
            ("kxm_waits", "callers that wait for a message to become final", self._wakeups.waits),
            ("kxm_wal_pages", "length of SQLite's write-ahead log", self._checkpoints.pages),
            ("kxm_store_trouble", "1 while the disk refuses writes", int(self._store.trouble is not None)),
        )
        timed = tuple(
            Series({"method": route.method, "route": route.path}, route.timing.read())
            for route in self._timed
            if route.timing is not None
        )
        return Snapshot(
            version=self._version,
            gauges=gauges,
            counters=tuple((name, about, counted.get(name, 0)) for name, about in COUNTERS.items()),
            distributions=(
                ("kxm_request_duration_seconds", "time until an answer was ready, streams and waits left out", timed),
                ("kxm_commit_duration_seconds", "time of a commit", (Series({}, self._measure.commit_s.read()),)),
                ("kxm_commit_group_size", "requests that shared a commit", (Series({}, self._measure.group.read()),)),
            ),
        )
