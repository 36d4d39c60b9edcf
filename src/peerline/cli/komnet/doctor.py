"""`komnet doctor`: what is wrong here, and how to put it right. Looks only; changes nothing."""

import shutil
import subprocess
from collections.abc import Iterator
from typing import Final, NamedTuple

from peerline.cli.komnet.desk import Desk
from peerline.core.errors import PeerlineError
from peerline.core.fence import visible
from peerline.network.config import Joined, load_config
from peerline.network.daemon.client import PING_S, DaemonLink, Unreachable
from peerline.network.daemon.protocol import Refusal
from peerline.network.notify.settings import notify_settings
from peerline.network.operations.session import Session
from peerline.network.tables.troubles import Trouble

PROBES, PROBE_S = 3, 10.0
OLDEST_GIT: Final = (2, 39)
BLANK: Final = "Not described yet."


class Finding(NamedTuple):
    """`mark`: ok, problem or notice; `fix` is what to do."""

    mark: str
    text: str
    fix: str = ""


_MARKS: Final = {"ok": "✓", "problem": "✗", "notice": "!"}


def doctor(desk: Desk) -> int:
    found = list(_findings(desk))
    problems = sum(1 for one in found if one.mark == "problem")
    shown = []
    for one in found:
        shown.append(f"{_MARKS[one.mark]} {one.text}")
        if one.fix:
            shown.append(f"  {'fix: ' if one.mark == 'problem' else ''}{one.fix}")
    shown += ["", f"{problems} problem(s) found" if problems else "no problems found"]
    return desk.show(shown, [one._asdict() for one in found], 1 if problems else 0)


def _findings(desk: Desk) -> Iterator[Finding]:
    yield _git(desk)
    try:
        config = load_config(desk.home)
    except PeerlineError as error:
        yield Finding("problem", visible(error.text, 300), "komnet init --repo <url>")
    else:
        yield Finding("ok", f"config at {desk.home.config} ({len(config.networks)} network(s))")
        if not config.networks:
            yield Finding("problem", "no networks configured", "komnet init --repo <url>")
        for joined in config.networks.values():
            yield from _network(desk, joined)
        for fault in notify_settings(config.rest.get("notify")).faults:
            yield Finding("notice", f"{desk.home.config}: {visible(fault, 200)}")
    yield _daemon(desk)


def _git(desk: Desk) -> Finding:
    path = shutil.which("git", path=desk.env.get("PATH"))
    if path is None:
        return Finding("problem", "git is not on the PATH", "install it, as with: sudo apt-get install git")
    said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout.split()
    version = said[2] if len(said) > 2 else "of an unknown version"
    numbers = tuple(int(part) for part in version.split(".")[:2] if part.isdigit())
    if numbers and numbers < OLDEST_GIT:
        return Finding("problem", f"git {version} is too old", "git 2.39 or newer is needed")
    return Finding("ok", f"git {version}")


def _network(desk: Desk, joined: Joined) -> Iterator[Finding]:
    session = desk.direct().session(joined.id)
    yield _reach(session, joined)
    engine = session.engine
    for view in engine.rooms():
        if view.followed and (view.trouble or view.gone):
            yield Finding("problem", f"{joined.id}/{view.room.id}: {visible(view.trouble or 'the room is gone', 200)}")
    if waiting := engine.waiting():
        why = visible(waiting[0].reason or "not tried yet", 200)
        yield Finding(
            "notice",
            f"{joined.id}: {len(waiting)} message(s) queued: {why}",
            "they go out by themselves; send none again",
        )
    for notice in engine.policy_notices():
        yield Finding("notice", f"{joined.id}: {notice}")
    for trouble in engine.troubles(3):
        yield Finding("notice", f"{joined.id}: {visible(_trouble(trouble), 200)}")
    profile = engine.profile()
    if profile is None or profile.mission == BLANK:
        yield Finding(
            "notice",
            f"{joined.id}: this agent's card is blank — peers cannot tell what you cover",
            "komnet profile update --role '<what you do>' --responsibility '<repo or domain you own>'",
        )


def _trouble(trouble: Trouble) -> str:
    return f"{trouble.kind}: {trouble.path}{f' ({trouble.detail})' if trouble.detail else ''}"


def _reach(session: Session, joined: Joined) -> Finding:
    rooms, failed, why = 0, 0, ""
    for _ in range(PROBES):
        try:
            rooms = session.engine.reach(limit_s=PROBE_S)
        except PeerlineError as error:
            failed, why = failed + 1, visible(error.text, 200)
    where = f"{joined.id} → {joined.remote}"
    if failed == 0:
        return Finding("ok", f"{where}: reachable ({PROBES}/{PROBES}), {rooms} room branch(es)")
    kind = "unreachable" if failed == PROBES else "INTERMITTENT"
    return Finding("problem", f"{where}: {kind} ({PROBES - failed}/{PROBES}) — {why}", "check the URL and your network")


def _daemon(desk: Desk) -> Finding:
    try:
        link = DaemonLink(desk.home.socket)
        served = link.call("ping", {}, timeout=PING_S)
        link.close()
    except (Unreachable, Refusal, TimeoutError):
        return Finding(
            "notice",
            "daemon not running",
            "nothing comes in while no command runs, and nobody is notified; start it with 'komnet daemon start'",
        )
    return Finding("ok", f"daemon running (pid {served['pid']})")


RUN = {"doctor": doctor}
