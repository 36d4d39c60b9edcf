"""The hub itself: who runs it, whether it answers, its Unix socket, and whether we may act on it."""

import os
import shlex
import stat
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Final

from peerline import __version__
from peerline.cli.doctor.finding import Finding, Level, fail, ok, warn
from peerline.cli.doctor.identity import identity
from peerline.cli.hot_address import Address
from peerline.cli.hot_http import Connection, ConnectionLost, Unreachable
from peerline.cli.hot_identity import Caller
from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import socket_path
from peerline.cli.hub.claim import holder

TIMEOUT_MS: Final = 5_000
ANOTHER: Final = "another port: export KXM_PORT=7332 KXM_SERVER_URL=http://127.0.0.1:7332; kxm hub start --background"


def hub(env: Mapping[str, str], root: Path, who: Callable[[], Caller]) -> Iterator[Finding]:
    """`who` works out the caller; that it cannot is a finding too."""
    found = holder(root)
    yield ok(
        "owner", f"the hub of this state folder is PID {found.pid}" if found else "no hub runs from this state folder"
    )
    try:
        caller = who()
    except Failure as failure:
        yield fail("hub", failure.detail, _address_fix(failure, env))
        return
    reached = reach(caller.address)
    yield reached
    if caller.address.loopback:
        yield socket(Path(socket_path(env, caller.address.port)), found is not None)
    if reached.level is not Level.FAIL:
        yield from identity(caller)


def _address_fix(failure: Failure, env: Mapping[str, str]) -> str:
    if failure.error == "hub_url_invalid":
        return "unset KXM_SERVER_URL" if env.get("KXM_SERVER_URL") else "kxm hub unbind"
    return "export KXM_PROJECT=<the project's name>"


def reach(address: Address) -> Finding:
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
        return fail(
            "hub", f"no answer of a hub at {address.url}: {why}", ANOTHER if address.loopback else "kxm hub view"
        )
    finally:
        connection.close()
    if health.status != 200:
        return fail("hub", f"{address.url} answers, but is not a healthy hub (HTTP {health.status})", ANOTHER)
    if ready.status != 200:
        why_not = health.body.get("detail") or f"HTTP {ready.status}"
        return fail("hub", f"{address.url} is not ready: {why_not}", "look at the disk and the hub's log")
    version = str(health.body.get("version") or "another implementation")
    detail = f"{address.url} is healthy and ready, {health.body.get('agents')} agents online"
    if version != __version__:
        fix = "kxm hub stop; kxm hub start --background" if address.loopback else "bring both to one version"
        return warn("hub", f"{detail}, but it is version {version} and this is {__version__}", fix)
    return ok("hub", detail)


def socket(path: Path, running: bool) -> Finding:
    try:
        about = path.lstat()
    except OSError:
        if running:
            return warn("socket", f"the running hub has none at {path}", "kxm hub stop; kxm hub start --background")
        return ok("socket", "none, since no hub runs")
    if not stat.S_ISSOCK(about.st_mode) or about.st_uid != os.getuid():
        return fail("socket", f"{path} is not a socket of yours", f"rm {shlex.quote(str(path))}")
    if about.st_mode & 0o077:
        return warn("socket", f"others may connect to {path}", f"chmod 600 {shlex.quote(str(path))}")
    return ok("socket", f"{path} is yours alone")
