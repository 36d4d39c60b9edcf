"""How the parts of this machine stand, for `peerline up`, `list` and `doctor`."""

import time
from collections.abc import Mapping
from typing import Any, Final

from peerline.cli.doctor.finding import Finding, ok, warn
from peerline.cli.hot_output import Failure
from peerline.cli.person_voice import span
from peerline.cli.up.login import installed
from peerline.cli.up.parts import HUB, networked, parts
from peerline.cli.up.record import Record
from peerline.cli.up.supervisor import ELSEWHERE, RUNNING, STARTING, STOPPED, WAITING, Standing
from peerline.core.fence import visible

OFTEN: Final = 3


def standings(env: Mapping[str, str], *, with_hub: bool = True) -> list[Standing]:
    """What should run here and how it stands: as its supervisor says, else as it is found."""
    record = Record(env)
    known = {one.name: one for one in record.read()} if record.pid is not None else {}
    found = []
    for part in parts(env, with_hub=with_hub):
        runs, one = part.runs(), known.get(part.name)
        pid = runs if runs is None or runs > 0 else None
        if one is not None and (one.state in (STARTING, WAITING) if runs is None else one.pid == pid):
            found.append(one)
        else:
            state = STOPPED if runs is None else ELSEWHERE
            found.append(Standing(name=part.name, state=state, pid=pid, since=0, log=str(part.log)))
    return found


def line(one: Standing) -> str:
    process = f" (process {one.pid})" if one.pid else ""
    if one.state in (RUNNING, ELSEWHERE):
        again = f", started again {times(one.restarts)}, last it {one.ended}" if one.restarts else ""
        return f"{one.name} runs{process}{again}"
    if one.state == WAITING:
        return f"{one.name} {one.ended}, and is started again; its log: {visible(one.log, 300)}"
    return f"{one.name} {'starts' if one.state == STARTING else 'does not run'}{process}"


def times(count: int) -> str:
    return "once" if count == 1 else f"{count} times"


def shape(one: Standing) -> dict[str, Any]:
    members = {"name": one.name, "state": one.state, "pid": one.pid, "restarts": one.restarts, "log": one.log}
    return {**members, **({"ended": one.ended} if one.ended else {})}


def here(env: Mapping[str, str]) -> str | None:
    """One line on what runs on this machine; None where there is nothing but a hub to speak of."""
    if not networked(env):
        return None
    found = [one for one in standings(env) if one.name != HUB]
    missing = any(one.state == STOPPED for one in found)
    return f"Here: {', '.join(map(line, found))}." + (" `peerline up` starts what does not run." if missing else "")


def findings(env: Mapping[str, str]) -> list[Finding]:
    """For `peerline doctor`: nothing on a machine that is in no network and was not told to start at login."""
    found: list[Finding] = []
    record = Record(env)
    if networked(env):
        pid = record.pid
        if pid is None:
            found.append(warn("supervisor", "none runs: what ends stays down", "peerline up"))
        else:
            found.append(ok("supervisor", f"process {pid}" if pid > 0 else "runs"))
        found += [_finding(one) for one in standings(env, with_hub=False)]
    try:
        file = installed(env)
    except Failure as failure:
        return [*found, warn("at login", failure.detail, "move that file away, then: peerline up --at-login")]
    return [*found, ok("at login", f"starts by {file}")] if file else found


def _finding(one: Standing) -> Finding:
    if one.state == STOPPED:
        return warn(one.name, "does not run: what is for the network waits", "peerline up")
    if one.state == WAITING or one.restarts >= OFTEN:
        since = span(max(0, time.time() - one.since / 1000))
        return warn(one.name, f"{one.ended}, {times(one.restarts)}; so since {since}", f"its log says why: {one.log}")
    return ok(one.name, f"process {one.pid}" if one.pid else one.state)
