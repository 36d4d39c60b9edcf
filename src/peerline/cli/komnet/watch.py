"""`komnet watch`: a line for each message that comes, until it is ended, or with `--wait` until one came."""

import time
from dataclasses import dataclass
from typing import Any, Final

from peerline.cli.hot_output import READER_GONE
from peerline.cli.komnet.desk import Desk
from peerline.core.errors import PeerlineError
from peerline.network.calls import Calls
from peerline.network.daemon.client import DaemonLink, Unreachable
from peerline.network.watching import Filter, Watcher, armed, timed_out

QUIET, UNCHECKED = 3, 4
EVERY_S: Final = 15


@dataclass(slots=True)
class _Watched:
    """One network that is looked at."""

    network: str
    watcher: Watcher


def watch(desk: Desk) -> int:
    try:
        return _watch(desk)
    except BrokenPipeError:
        return READER_GONE


def _watch(desk: Desk) -> int:
    call, calls = desk.call, desk.calls()
    every, wait, only_new = call.count("--interval") or EVERY_S, call.count("--wait"), call.flag("--new-only")
    chosen = Filter(
        room=call.text("--room"), thread=call.text("--thread"), tag=call.text("--tag"), needs=call.text("--needs")
    )
    several = call.flag("--all-networks")
    first: dict[str, Any] = calls.call("status", {}, call.text("--network"))
    networks = [one["id"] for one in calls.call("networks", {}, None)] if several else [first["networkId"]]
    watched = [_Watched(network, Watcher(chosen, only_new, network if several else None)) for network in networks]
    desk.line(armed(every, calls.mode, ",".join(networks), first["agentId"], wait, only_new, chosen))
    if chosen.room is not None and not several and chosen.room not in first["subscriptions"]:
        desk.line(f"watch-degraded reason=not subscribed to #{chosen.room} — komnet room join {chosen.room}")
    return _Looking(desk, calls, watched, every, wait).run(once=call.flag("--once"))


class _Looking:
    def __init__(self, desk: Desk, calls: Calls, watched: list[_Watched], every: int, wait: int | None) -> None:
        self._desk, self._calls, self._watched = desk, calls, watched
        self._every, self._wait = every, wait
        self._checked = True
        self._events: DaemonLink | None = None

    def run(self, once: bool) -> int:
        """Look until something matched (`--wait`), once, or for ever; the exit code."""
        end = None if self._wait is None else time.monotonic() + self._wait
        if self._calls.mode == "daemon" and not once:
            self._events = self._subscribed()
        while True:
            came = self._look()
            if once or (came and self._wait is not None):
                return 0
            left = self._every if end is None else min(self._every, end - time.monotonic())
            if left <= 0:
                break
            self._pause(left)
        assert self._wait is not None
        self._desk.line(timed_out(self._wait, self._checked))
        return QUIET if self._checked else UNCHECKED

    def _look(self) -> bool:
        """Whether an item matched that was not told before."""
        came = False
        for one in self._watched:
            for line in self._lines(one):
                self._desk.line(line)
                came = came or line.startswith("komnet-inbox")
        return came

    def _lines(self, one: _Watched) -> list[str]:
        try:
            if self._calls.mode == "direct":
                self._calls.call("sync", {}, one.network)
            view = self._calls.call("inbox", {}, one.network)
            around = self._calls.call("surroundings", {}, one.network)
        except (PeerlineError, Unreachable) as error:
            self._checked = False
            return one.watcher.health({"degraded": True, "reason": str(error)})
        self._checked = not view["health"].get("degraded")
        return [
            *one.watcher.health(view["health"]),
            *one.watcher.surroundings(around["rooms"], around["threads"]),
            *one.watcher.inbox(view["items"]),
        ]

    def _pause(self, seconds: float) -> None:
        if self._events is None:
            time.sleep(seconds)
            return
        try:
            self._events.wait(seconds)
            self._events.next_line()
        except TimeoutError:
            pass
        except Unreachable:
            self._events = None

    def _subscribed(self) -> DaemonLink | None:
        try:
            events = DaemonLink(self._desk.home.socket)
            events.subscribe({}, None)
        except (PeerlineError, Unreachable):
            return None
        return events


RUN = {"watch": watch}
