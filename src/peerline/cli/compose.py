"""The composition root: a hub put together from its parts, served until it is told to stop."""

import asyncio
import gc
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from peerline.cli.faults import Faults
from peerline.cli.wiring import Hub, Log, Probe, loopback
from peerline.core.errors import Invalid
from peerline.database.checkpoint import Checkpoints
from peerline.database.connection import open_writer, prepare
from peerline.database.lock import FileLock
from peerline.database.migrations import migrate
from peerline.settings import HubSettings
from peerline.store.migrations import MIGRATIONS


def run_hub(
    settings: HubSettings,
    *,
    announce: Callable[[str], None],
    log: Log = lambda line: None,
    probe: Probe | None = None,
    mcp_server: Callable[[], Any] | None = None,
) -> int:
    """Serve until SIGTERM or SIGINT; returns the exit code.

    `announce` gets the line for the person once the hub takes requests; `log` one line at a time, on the loop's
    thread. `probe` is told the points of each group of work (fault tests). `mcp_server` makes what `/mcp` serves
    instead of our tools (conformance tests).

    Raises:
        Invalid: settings that a hub must not start with. Held, NotOurs, TooNew, UnsafeFile, OSError: the place.
    """
    check(settings)
    # Few cycles are made here, and looking for them among everything that lives long costs a tenth of the time.
    gc.set_threshold(50_000, 50, 100)
    memory = settings.data_path == ":memory:"
    path = Path(settings.data_path)
    lock = None
    if not memory:
        prepare(path)
        lock = FileLock(path)
    try:
        connection = open_writer(settings.data_path)
        try:
            migrate(connection, MIGRATIONS, None if memory else path, probe)
            hub = Hub(settings, connection, Checkpoints(settings.data_path), log, probe)
            with Faults(hub.fault):
                try:
                    import uvloop
                except ImportError:
                    return asyncio.run(hub.serve(announce, mcp_server))
                return uvloop.run(hub.serve(announce, mcp_server))
        finally:
            connection.close()
    finally:
        if lock is not None:
            lock.release()


def serve(env: Mapping[str, str], *, probe: Probe | None = None) -> int:
    """A hub from variables alone, in the foreground and without log: for fault tests and embedding."""
    return run_hub(HubSettings.from_env(env), announce=lambda line: print(line, flush=True), probe=probe)


def check(settings: HubSettings) -> None:
    """Raises: Invalid: spec/hub.md 3.4."""
    if not loopback(settings.host) and not settings.auth_token:
        raise Invalid("KXM_AUTH_TOKEN is required when binding beyond localhost")
    if settings.stale_after_ms < 100 or settings.message_ttl_ms < 1000 or settings.message_retention_ms < 1000:
        raise Invalid("stale and message TTL settings are below supported minimums")
    if settings.rate_limit_window_ms < 100 or settings.rate_limit_max < 1:
        raise Invalid("rate limit settings are invalid")
