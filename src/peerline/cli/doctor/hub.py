"""The hub itself: who runs it, whether it answers, and its Unix socket."""

import os
import stat
from collections.abc import Iterator
from pathlib import Path
from typing import Final

from peerline.cli.doctor.finding import Finding, fail, ok, warn
from peerline.cli.hot_http import Connection, ConnectionLost, Unreachable
from peerline.cli.hot_identity import Caller
from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import socket_path
from peerline.cli.hub.claim import holder
from peerline.cli.options import Asked

TIMEOUT_MS: Final = 5_000


def hub(asked: Asked, root: Path) -> Iterator[Finding]:
    found = holder(root)
    yield ok(
        "owner", f"the hub of this state folder is PID {found.pid}" if found else "no hub runs from this state folder"
    )
    try:
        caller = Caller({**asked.env, "KXM_PROJECT": "any"}, {})
    except Failure as failure:
        yield fail("hub", failure.detail, "kxm hub unbind")
        return
    yield reach(caller)
    if caller.address.loopback:
        yield socket(Path(socket_path(asked.env, caller.address.port)), found is not None)


def reach(caller: Caller) -> Finding:
    address = caller.address
    connection = Connection(address, {})
    try:
        health = connection.request("GET", "/health", timeout_ms=TIMEOUT_MS)
        ready = connection.request("GET", "/ready", timeout_ms=TIMEOUT_MS)
    except Unreachable as why:
        fix = (
            "kxm hub start --background"
            if address.loopback
            else "start it there, or go back to your own: kxm hub unbind"
        )
        return fail("hub", f"no hub answers at {address.url} ({why})", fix)
    except (ConnectionLost, ValueError) as why:
        return fail("hub", f"no answer of a hub at {address.url}: {why}", "kxm hub view")
    finally:
        connection.close()
    if health.status != 200:
        return fail("hub", f"{address.url} answers, but is not a healthy hub (HTTP {health.status})", "kxm hub view")
    if ready.status != 200:
        why_not = health.body.get("detail") or f"HTTP {ready.status}"
        return fail("hub", f"{address.url} is not ready: {why_not}", "look at the disk and the hub's log")
    return ok("hub", f"{address.url} is healthy and ready, {health.body.get('agents')} agents online")


def socket(path: Path, running: bool) -> Finding:
    try:
        about = path.lstat()
    except OSError:
        if running:
            return warn("socket", f"the running hub has none at {path}", "kxm hub stop; kxm hub start --background")
        return ok("socket", "none, since no hub runs")
    if not stat.S_ISSOCK(about.st_mode) or about.st_uid != os.getuid():
        return fail("socket", f"{path} is not a socket of yours", f"rm {path}")
    if about.st_mode & 0o077:
        return warn("socket", f"others may connect to {path}", f"chmod 600 {path}")
    return ok("socket", f"{path} is yours alone")
