"""All parts of one hub, wired; the only place that knows them all."""

import asyncio
import os
import signal
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from peerline import __version__
from peerline.cli.faults import where
from peerline.core.access import Access
from peerline.core.brake import Brake, pair
from peerline.core.rate import RateWindow
from peerline.database.checkpoint import Checkpoints
from peerline.database.committer import Paced, Threaded
from peerline.database.measure import Measure
from peerline.database.room import room
from peerline.database.sql import Sql
from peerline.database.writer import Writer
from peerline.hub.agents import Agents
from peerline.hub.clock import HubClock
from peerline.hub.entropy import Pool
from peerline.hub.facts import Facts
from peerline.hub.journal import Journal
from peerline.hub.leases import Leases
from peerline.hub.messages import Messages
from peerline.hub.overview import Overview
from peerline.hub.pairs import Pairs
from peerline.hub.projects import Projects
from peerline.hub.refused import Refused
from peerline.hub.sweeper import Sweeper
from peerline.hub.tickets import Tickets
from peerline.hub.wakeups import Wakeups
from peerline.server.agents import AgentRoutes
from peerline.server.app import HubApplication
from peerline.server.auth import Auth
from peerline.server.deadlines import Deadlines
from peerline.server.events import TURNS_A_SECOND, EventRoutes, Wheel
from peerline.server.guards import Guard
from peerline.server.health import HealthRoutes
from peerline.server.leases import LeaseRoutes
from peerline.server.listen import serve as serve_http
from peerline.server.mcp_http import McpRoutes
from peerline.server.messages import MessageRoutes
from peerline.server.metrics import MetricRoutes
from peerline.server.openapi import OpenApiRoutes
from peerline.server.ops import OpsRoutes
from peerline.server.pairs import PairRoutes
from peerline.server.projects import ProjectRoutes
from peerline.server.refused import RefusedRoutes
from peerline.server.routes import Routes
from peerline.server.watch import WatchRoutes
from peerline.settings import HubSettings
from peerline.store.api import Hint, Store, Tables
from peerline.store.pending import pending
from peerline.store.tables.agents import AgentTable
from peerline.store.tables.messages import MessageTable
from peerline.store.tables.tokens import TokenTable

Log = Callable[[dict[str, Any]], None]
Probe = Callable[[str], None]
FATAL_EXIT = 70


def loopback(host: str) -> bool:
    return host in ("localhost", "::1") or host.startswith("127.")


class Hub:
    """All parts of one hub, wired; `serve` runs them on the current event loop."""

    def __init__(
        self, settings: HubSettings, connection: Any, checkpoints: Checkpoints, log: Log, probe: Probe | None
    ) -> None:
        self._settings, self._checkpoints = settings, checkpoints
        self._flush_log: Callable[[], None] = getattr(log, "flush", lambda: None)
        self._clock = HubClock(time.time, time.monotonic)
        self._fatal: BaseException | None = None
        self._loop: asyncio.AbstractEventLoop | None = None
        self._stop: asyncio.Event | None = None
        self._probe = probe
        self.wakeups = Wakeups()
        tables = Tables(self._committed)
        self.committer = Paced(Threaded(self._settle), time.perf_counter)
        self.measure = Measure(time.perf_counter)
        self.writer = Writer(
            connection,
            checkpoints,
            self.committer,
            tables,
            soon=self._soon,
            probe=probe,
            fatal=self._die,
            oops=self._oops,
            alarm=self._log_is_held,
            measure=self.measure,
        )
        self.journal = Journal(log, self._clock.now)
        self.store = Store(self.writer, tables)
        self.access = Access(settings.auth_token or None, settings.project_tokens, loopback(settings.host))
        now, entropy = self._clock.now, Pool(os.urandom)
        self._entropy = entropy
        self.agents = Agents(self.store, self.wakeups, self.journal, self._clock, entropy, settings.stale_after_ms)
        sql = Sql(connection)
        self.agents.load(AgentTable(sql).all(), AgentTable(sql).sessions())
        self.access.put(TokenTable(sql).all())
        self.facts = Facts(self.store, now)
        enough = (lambda: None) if settings.data_path == ":memory:" else room(Path(settings.data_path))
        brake = Brake(settings.pair_limit, settings.pair_window_ms)
        self.pairs = Pairs(self.store, self.agents, self.journal, brake, now, self._clock.monotonic)
        self.pairs.load([pair(row[1], row[2]) for row in MessageTable(sql).held(now())])
        self.messages = Messages(
            self.store, self.agents, self.wakeups, self.facts, self.journal, now, entropy, settings.queue_limit,
            self.pairs, enough,
        )  # fmt: skip
        self.refused = Refused(self.agents, now)
        self.projects = Projects(self.store, self.access, self.wakeups, self.journal, now, entropy)
        self.leases = Leases(self.store, self.journal, now)
        self.overview = Overview(self.store, self.agents, self.messages, now, settings.message_retention_ms)
        self.rates = RateWindow(settings.rate_limit_max, settings.rate_limit_window_ms)
        self.wheel = Wheel()
        self.mcp: McpRoutes | None = None
        self.guard = Guard(settings.host, settings.allowed_hosts)
        self.sweeper = Sweeper(
            self.messages, self.agents, self.leases, self.projects, self.facts, self._clock, self.rates,
            settings.message_retention_ms, self.store,
        )  # fmt: skip

    def application(self, mcp_server: Callable[[], Any] | None = None) -> HubApplication:
        """Needs the running event loop, for waits. `mcp_server` makes what `/mcp` serves instead of our tools."""
        auth = Auth(self.access, self.agents, self._clock)
        storage = "memory" if self._settings.data_path == ":memory:" else "sqlite"
        call_later = asyncio.get_running_loop().call_later
        metrics = MetricRoutes(
            self.store, self.agents, self.wakeups, self.journal, self._checkpoints, self.measure,
            self._clock.now, __version__, None if storage == "memory" else partial(pending, self._settings.data_path),
        )  # fmt: skip
        openapi = OpenApiRoutes(__version__)
        mcp = self.mcp = McpRoutes(
            auth, self.access, self.agents, self.wakeups, self.rates, self._clock, self._oops, server=mcp_server
        )
        parts = (
            HealthRoutes(self.agents, self.store, storage, lambda: self.store.trouble, __version__),
            AgentRoutes(self.agents, self.messages, self.projects, auth, os.geteuid()),
            MessageRoutes(
                self.messages,
                self.wakeups,
                self.facts,
                self._settings.message_ttl_ms,
                call_later,
                self._clock.now,
                self.agents.directory,
            ),
            EventRoutes(self.store, self.agents, self.wakeups, self.facts, auth, self._clock, self.wheel, self._probe),
            WatchRoutes(
                Tickets(self._entropy),
                self.agents,
                self.messages,
                self.facts,
                self.wakeups,
                self.wheel,
                self._clock,
                lambda: self.guard.place,
            ),
            PairRoutes(self.pairs),
            RefusedRoutes(self.refused),
            LeaseRoutes(self.leases),
            OpsRoutes(self.overview, self.wakeups, self.wheel, self._clock.now),
            ProjectRoutes(self.projects, self._clock.now),
            mcp,
            metrics,
            openapi,
        )
        routes = Routes([route for part in parts for route in part.routes()])
        metrics.time(routes.all)
        openapi.describe(routes.all)
        mcp.app = HubApplication(
            routes, self.guard, auth, self.agents, self.rates, self.journal, self._clock, self._entropy, self._oops,
            self.refused,
        )  # fmt: skip
        return mcp.app

    async def serve(self, announce: Callable[[str], None], mcp_server: Callable[[], Any] | None = None) -> int:
        settings = self._settings
        loop = self._loop = asyncio.get_running_loop()
        stop = self._stop = asyncio.Event()
        app = self.application(mcp_server)

        def end(number: int) -> None:
            if app.stopping:
                os._exit(128 + number)  # asked twice: at once
            app.stopping = True
            self.journal.event("hub_stopping", signal=signal.Signals(number).name)
            self.wakeups.release()
            stop.set()

        for number in (signal.SIGTERM, signal.SIGINT):
            loop.add_signal_handler(number, end, number)
        sweeping = asyncio.ensure_future(self._sweep())
        beat = _Every(loop, 1 / TURNS_A_SECOND, self.wheel.turn)
        flushing = _Every(loop, 0.25, self._flush)
        expiring = _Every(loop, 1.0, self.sweeper.expire)
        ending = _Every(loop, 1.0, self.projects.look)

        def ready(port: int) -> None:
            self.guard.bind(port)
            host = f"[{settings.host}]" if ":" in settings.host else settings.host
            auth = "token" if settings.auth_token or settings.project_tokens else "none"
            self.journal.event("hub_started", port=port, storage=settings.data_path, auth=auth)
            announce(f"kxm hub listening at http://{host}:{port}; storage={settings.data_path}; auth={auth}")

        try:
            await serve_http(
                app,
                host=settings.host,
                port=settings.port,
                socket_path=Path(settings.socket_path) if settings.socket_path else None,
                on_ready=ready,
                stop=stop,
                http="asgi" if settings.http == "asgi" else "protocol",
                deadlines=Deadlines(head_s=settings.header_timeout_ms / 1000, body_s=settings.body_timeout_ms / 1000),
            )
        finally:
            sweeping.cancel()
            beat.stop()
            flushing.stop()
            expiring.stop()
            ending.stop()
            if self.mcp is not None:
                await self.mcp.close()
            self.agents.flush()
            self.facts.flush()
            self.store.write(lambda tx: tx.counters.flush())
            idle = asyncio.Event()
            self.writer.close(idle.set)
            await idle.wait()
            self.committer.stop()
            self._checkpoints.stop()
        return FATAL_EXIT if self._fatal is not None else 0

    async def _sweep(self) -> None:
        while True:
            try:
                await self.sweeper.sweep()
            except Exception as error:
                self._oops(error)  # a bug in one round must not end the rounds
            await asyncio.sleep(self._settings.sweep_interval_ms / 1000)

    def _flush(self) -> None:
        self.facts.flush()
        self.store.take_in()
        self._flush_log()
        for watcher in self.wakeups.watchers:
            watcher.flush()

    def _committed(self, hints: list[Hint]) -> None:
        self.wakeups.fire(hints)
        self.journal.committed(hints)

    def _soon(self, call: Callable[[], None]) -> None:
        assert self._loop is not None
        self._loop.call_soon(call)

    def _settle(self, callback: Callable[[], None]) -> None:
        assert self._loop is not None
        try:
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            pass  # the loop is closed: nobody waits any more

    def _die(self, error: BaseException) -> None:
        """Perhaps on the committer's thread: the disk refused an fsync. Answers go out with what is in hand, then the
        process ends; what was acknowledged is what recovery will find."""
        self._fatal = error
        if self._loop is not None and self._stop is not None:
            self._loop.call_soon_threadsafe(self._end_fatally)

    def _end_fatally(self) -> None:
        self.journal.event("storage_failed", "error", detail=str(self._fatal))
        assert self._loop is not None
        self._loop.call_later(0.3, os._exit, FATAL_EXIT)

    def _log_is_held(self, pages: int) -> None:
        """On the committer's thread."""
        if self._loop is not None:
            self._loop.call_soon_threadsafe(
                lambda: self.journal.event(
                    "write_ahead_log_held", "error", pages=pages, detail="another process holds it, or the disk refuses"
                )
            )

    def _oops(self, error: BaseException) -> None:
        """A fault of ours: into the log, with where it happened, never to a client."""
        self.journal.event("internal_error", "error", error=type(error).__name__, where=where(error))

    def fault(self, error: BaseException | None, text: str) -> None:
        about = {} if error is None else {"error": type(error).__name__, "where": where(error)}
        self.journal.event("internal_error", "error", detail=text, **about)


class _Every:
    """Calls `work` each `interval_s` until stopped. A late call does not make the later ones late; what was missed for
    longer than an interval is not made up for."""

    def __init__(self, loop: asyncio.AbstractEventLoop, interval_s: float, work: Callable[[], object]) -> None:
        self._loop, self._interval_s, self._work = loop, interval_s, work
        self._due = loop.time()
        self._wait()

    def _wait(self) -> None:
        self._due = max(self._due, self._loop.time() - self._interval_s) + self._interval_s
        self._handle = self._loop.call_at(self._due, self._tick)

    def _tick(self) -> None:
        self._wait()
        self._work()

    def stop(self) -> None:
        self._handle.cancel()
