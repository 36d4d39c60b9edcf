"""`peerline doctor`: checks the machine, the hub and the way between; each finding has a fix."""

from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

import click

from peerline import __version__
from peerline.cli import person_checks as look
from peerline.cli.hot_http import Connection, ConnectionLost, Unreachable
from peerline.cli.hot_identity import Caller
from peerline.cli.hot_output import Failure
from peerline.cli.hot_paths import socket_path
from peerline.cli.hub.background import LISTENING
from peerline.cli.hub.claim import holder
from peerline.cli.person_checks import Finding
from peerline.cli.person_self import Person
from peerline.cli.person_voice import moment
from peerline.core.errors import Invalid
from peerline.core.fence import visible
from peerline.settings import HubSettings

MARKS: Final = {"ok": ("ok", "green"), "warn": ("WARN", "yellow"), "fail": ("FAIL", "red")}
SKEW_S: Final = 5.0
TIMEOUT_MS: Final = 5_000


@click.command("doctor")
@click.pass_obj
def doctor(person: Person) -> int:
    """Check this machine and its hub. Exit code 1 if anything is red; nothing is changed."""
    caller = person.caller()
    found = [look.python(), look.open_files()]
    if caller.address.loopback:
        found += _store(person, caller)
    hub = list(_hub(caller))
    found += hub
    if not any(each.level == "fail" for each in hub):
        found += _joined(person, caller)
    voice, red = person.voice, sum(each.level == "fail" for each in found)
    warned = sum(each.level == "warn" for each in found)
    lines = [line for each in found for line in _lines(person, each)]
    told = f"{red} to fix" if red else "nothing to fix"
    lines += ["", f"{len(found)} checks: {told}" + (f", {warned} to know" if warned else "") + "."]
    findings: list[dict[str, Any]] = [
        {"level": each.level, "what": each.what, "detail": each.detail, **({"fix": each.fix} if each.fix else {})}
        for each in found
    ]
    return voice.done(lines, code=1 if red else 0, version=__version__, findings=findings)


def _lines(person: Person, found: Finding) -> list[str]:
    mark, style = MARKS[found.level]
    lines = [f"{person.voice.styled(f'{mark:<5}', style)}{found.what:<12} {visible(found.detail, 500)}"]
    return [*lines, f"{'':<18}fix: {visible(found.fix, 500)}"] if found.fix else lines


def _store(person: Person, caller: Caller) -> Iterator[Finding]:
    """What lies on this machine. A store in memory has nothing to look at."""
    root = Path(caller.root)
    try:
        path = _data_path(person, root)
    except Invalid as error:
        yield Finding(level="fail", what="settings", detail=error.text, fix="env | grep ^KXM_")
        return
    store = None if path == ":memory:" else Path(path)
    yield from look.modes(root, store)
    if store is None:
        detail = "in memory only (KXM_DATA_PATH): a stop of the hub loses all messages"
        yield Finding(level="warn", what="store", detail=detail, fix="unset KXM_DATA_PATH; peerline down; peerline up")
        return
    mounts = Path("/proc/self/mountinfo")
    yield look.file_system(store.resolve(), mounts.read_text(errors="replace") if mounts.exists() else "")
    yield look.room(store.resolve())
    yield look.integrity(store)


def _data_path(person: Person, root: Path) -> str:
    """The file of the hub that runs, as it said itself; else that of the hub that would be started here."""
    if holder(root):
        try:
            said = (root / "hub.out").read_text(errors="replace")
        except OSError:
            said = ""
        if found := LISTENING.search(said):
            return found[2]
    return HubSettings.from_env(person.env).data_path


def _hub(caller: Caller) -> Iterator[Finding]:
    """Does it answer, does it store, is it of our version?"""
    address = caller.address
    start = "peerline up" if address.loopback else "start it on its machine: kxm hub start"
    connection = Connection(address, {})
    try:
        health = connection.request("GET", "/health", timeout_ms=TIMEOUT_MS)
        ready = connection.request("GET", "/ready", timeout_ms=TIMEOUT_MS)
    except Unreachable as why:
        yield Finding(level="fail", what="hub", detail=f"nobody answers at {address.url} ({why})", fix=start)
        return
    except (ConnectionLost, ValueError) as error:
        fix = "check KXM_SERVER_URL, or set KXM_PORT to a free port"
        yield Finding(level="fail", what="hub", detail=f"no hub answers at {address.url}: {error}", fix=fix)
        return
    finally:
        connection.close()
    version = str(health.body.get("version") or "another implementation")
    yield Finding(level="ok", what="hub", detail=f"answers at {address.url}")
    if version != __version__:
        fix = "peerline down; peerline up" if address.loopback else "bring both to one version"
        yield Finding(level="warn", what="version", detail=f"the hub is {version}, this is {__version__}", fix=fix)
    else:
        yield Finding(level="ok", what="version", detail=f"{version}, hub and command line")
    if health.body.get("degraded") or ready.status != 200:
        detail = str(health.body.get("detail") or "it cannot store now")
        log = Path(caller.root) / "logs" / "kxm-hub.jsonl"
        yield Finding(level="fail", what="ready", detail=detail, fix=f"tail -3 {log}; df -h {caller.root}")
    else:
        yield Finding(level="ok", what="ready", detail=f"it stores ({ready.body.get('storage', '?')})")


def _joined(person: Person, caller: Caller) -> Iterator[Finding]:
    """Can we act there, and do the clocks agree?"""
    if caller.address.loopback and hasattr(caller.address, "unix"):
        yield look.unix_socket(caller.address.unix, socket_path(person.env, caller.address.port))
    try:
        with person.session() as session:
            me = session.call("POST", f"/v1/agents/{session.agent_id}/heartbeat", {}).get("agent") or {}
            seen = moment(me.get("lastSeenAt"))
            skew = abs((datetime.now(UTC) - seen).total_seconds()) if seen else 0.0
    except Failure as failure:
        fix = _joining_fix(failure, caller)
        yield Finding(level="fail", what="identity", detail=visible(failure.detail, 300), fix=fix)
        return
    who = "your login name" if person.by_login else "KXM_AGENT_NAME or --as"
    detail = f"you act as {visible(caller.name)} ({who}) in project {visible(caller.project)}"
    yield Finding(level="ok", what="identity", detail=detail)
    if skew > SKEW_S:
        detail = f"this machine and the hub differ by {skew:.0f} s"
        yield Finding(level="warn", what="clock", detail=detail, fix="timedatectl set-ntp true")
    else:
        yield Finding(level="ok", what="clock", detail="agrees with the hub's")


def _joining_fix(failure: Failure, caller: Caller) -> str:
    code = failure.more.get("code")
    if code == "duplicate_agent_name":
        return "export KXM_AGENT_NAME=another-name"
    if code == "invalid_auth":
        saved = (
            "unset KXM_AUTH_TOKEN"
            if caller.env.get("KXM_AUTH_TOKEN")
            else "rm " + str(Path(caller.root) / "local-tokens.json")
        )
        return f"{saved}, or export KXM_AUTH_TOKEN=<the project's token>"
    if failure.error == "project_token_missing":
        return "export KXM_AUTH_TOKEN=<the project's token>"
    return "peerline up"
