"""NET: two machines with their daemons on one repository. How soon mail is there, what a read costs when the remote
is away, what an idle network does, what a command costs to start."""

import shutil
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import median
from time import perf_counter
from typing import Any, Final

from bench.probes.machines import Machine, bare, commits
from bench.probes.rooms import ROOM
from bench.probes.timing import in_turn, timed
from bench.run import Failed, Run
from bench.targets import Reading
from peerline.core.cadence import HOT_S, JITTER
from peerline.core.errors import PeerlineError
from peerline.network.daemon.client import DaemonLink, Unreachable

SENDS: Final = 30
READS: Final[tuple[tuple[str, ...], ...]] = (("status",), ("inbox",), ("read", ROOM))
IDLE_S: Final = 45.0
SHORTEST_S: Final = HOT_S * (1 - JITTER)  # of the intervals between two looks, at the quickest pace
HEARD_WITHIN_S: Final = 30.0


class Between:
    """Console scripts of the installed wheel, in whole processes."""

    def packages(self) -> list[str]:
        return []

    def prepare(self, run: Run) -> None:
        pass

    def measure(self, run: Run, loads: Sequence[str]) -> dict[Reading, float]:
        times, idle_s = (5, 15.0) if run.quick else (SENDS, IDLE_S)
        with run.folder() as folder:
            try:
                return measured(folder, run.product, times, idle_s)
            except (Unreachable, PeerlineError) as error:
                raise Failed(str(error)) from error


def measured(folder: Path, programs: Path, times: int, idle_s: float) -> dict[Reading, float]:
    """All figures; `times` sends and half as many commands."""
    remote, served, alone = bare(folder), *(Machine(folder, programs / "komnet", name) for name in ("anna", "bert"))
    served.join(remote, first=True)
    alone.join(remote, first=False)
    served.komnet("send", ROOM, "one that waits", "--mention", alone.agent)
    alone.komnet("send", ROOM, "another", "--mention", served.agent)
    found: dict[tuple[str, str], float] = {}
    with served.daemon():
        took = {**_starts(programs, served, alone, times // 2), **_away(remote, served, alone, times // 2)}
        with alone.daemon():
            took |= _sends(served, alone, times)
    found = {(name, "ms"): seconds * 1000 for name, seconds in took.items()}
    found |= {(name, "count"): count for name, count in _idle(folder, remote, served, idle_s).items()}
    return {Reading("between", load, metric): figure for (load, metric), figure in found.items()}


def _starts(programs: Path, served: Machine, alone: Machine, times: int) -> dict[str, float]:
    return in_turn(
        times,
        {
            "python": lambda: timed([programs / "python3", "-c", "pass"], alone.env),
            "version": lambda: alone.komnet("--version"),
            "brief": lambda: alone.komnet("inbox", "--brief"),
            "brief-daemon": lambda: served.komnet("inbox", "--brief"),
        },
    )


def _away(remote: Path, served: Machine, alone: Machine, times: int) -> dict[str, float]:
    """The slowest command's median, for a machine without a daemon and for one with it."""
    moved = remote.rename(remote.with_suffix(".away"))
    try:
        works = {(who, words): who for who in (served, alone) for words in READS}
        took = in_turn(times, {key: lambda key=key: key[0].komnet(*key[1]) for key in works})  # type: ignore[misc]
    finally:
        moved.rename(remote)
    return {
        "away-daemon": max(took[served, words] for words in READS),
        "away": max(took[alone, words] for words in READS),
    }


def _sends(sender: Machine, recipient: Machine, times: int) -> dict[str, float]:
    """From the start of a send over the socket, and from its answer, to the event of the other daemon's subscription.

    An event that is there before the answer counts 0 from the answer.
    """
    from_start, from_pushed, sent = [], [], []
    with sender.link() as link, recipient.link() as events, ThreadPoolExecutor(1) as ear:
        events.subscribe({}, None)
        events.wait(HEARD_WITHIN_S)
        for number in range(times + 1):
            heard = ear.submit(_next_delivery, events)
            began = perf_counter()
            made = {"body": f"{number}: " + "x" * 300, "mentions": [recipient.agent]}
            message = link.call("send", {"room": ROOM, "input": made})["message"]
            pushed = perf_counter()
            at, ids = heard.result()
            if message["delivery"] != "pushed" or ids != [message["id"]]:
                raise Failed(f"send {number}: {message['delivery']}; the other daemon told of {len(ids)} messages")
            from_start.append(at - began)
            from_pushed.append(max(0.0, at - pushed))
            sent.append(message["id"])
    with recipient.link() as link:
        waiting = {item["id"] for item in link.call("inbox", {})["items"]}
    if not waiting.issuperset(sent):
        raise Failed("a message that was told of is not in the inbox")
    return {"send": median(from_start[1:]), "pushed": median(from_pushed[1:])}


def _next_delivery(events: DaemonLink) -> tuple[float, list[str]]:
    told: dict[str, Any] = {}
    while told.get("event") != "delivered":
        told = events.next_line()
    return perf_counter(), told["ids"]


def _idle(folder: Path, remote: Path, machine: Machine, seconds: float) -> dict[str, float]:
    """What a daemon does that nobody asks anything, from its start: a `git` of ours in front of the real one counts."""
    log, counting = folder / "git.log", folder / "counting-git"
    counting.write_text(f'#!/bin/sh\necho "$(date +%s.%N) $*" >>"{log}"\nexec "{shutil.which("git")}" "$@"\n')
    counting.chmod(0o755)
    before = commits(remote)
    with machine.daemon(KOMNET_GIT=str(counting)):
        time.sleep(seconds)
    looks = [float(line.split()[0]) for line in log.read_text().splitlines() if " ls-remote " in line]
    if not looks:
        raise Failed("an idle daemon did not look at the remote")
    return {"commits": commits(remote) - before, "looks": most_within(SHORTEST_S, looks)}


def most_within(seconds: float, times: Sequence[float]) -> int:
    """The most of the times that lie less than so many seconds after one of them, itself counted."""
    return max((sum(first <= one < first + seconds for one in times) for first in times), default=0)
