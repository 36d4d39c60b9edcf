"""`komnet gateway watch`: the lines for a session that plays the gateway (spec/network.md 9.6).

It claims requests and tells of items; what follows is the session's own, and it records the outcome with `resolve`.
"""

import json
import time
from typing import Any, Final

from peerline.cli.hot_output import READER_GONE
from peerline.cli.komnet.desk import Desk
from peerline.core.errors import PeerlineError
from peerline.gateway.inbound import HELD, PERSON
from peerline.gateway.journal import Journal
from peerline.gateway.place import GatewayPlace
from peerline.network.calls import Calls
from peerline.network.watching import member, said

DEFAULT_MS, LEAST_MS, MOST_MS = 15_000, 2_000, 600_000
DEGRADED_AFTER: Final = 3
REQUEST_AT_MOST: Final = 4 * 1024 * 1024


def watch(desk: Desk) -> int:
    place = GatewayPlace(desk.home)
    place.make()
    poll = _poll(desk.env.get("KOMNET_RELAY_POLL_MS"))
    watching = _Watching(desk, place)
    try:
        desk.line(f"relay-armed poll={poll}ms watch-inbox=on watch-requests=on home={desk.home.folder}")
        while True:
            watching.look()
            time.sleep(poll / 1000)
    except BrokenPipeError:
        return READER_GONE


class _Watching:
    def __init__(self, desk: Desk, place: GatewayPlace) -> None:
        self._desk, self._place = desk, place
        self._journal = Journal(place.journal)
        self._calls: Calls = desk.calls()
        self._failures = 0

    def look(self) -> None:
        for name in sorted(entry.name for entry in self._place.requests.iterdir() if entry.name.endswith(".json")):
            self._claim(name)
        try:
            view = self._calls.call("inbox", {}, self._desk.call.text("--network"))
            status = self._calls.call("status", {}, self._desk.call.text("--network"))
        except PeerlineError as error:
            self._failed(error.text)
            return
        if self._failures >= DEGRADED_AFTER:
            self._desk.line("relay-recovered")
        self._failures = 0
        for item in view["items"]:
            self._tell(status["networkId"], item)

    def _claim(self, name: str) -> None:
        claimed = self._place.claimed / name
        try:
            (self._place.requests / name).rename(claimed)
        except OSError:
            return  # another gateway was first
        session, room = "unparseable", "-"
        try:
            with claimed.open("rb") as stream:
                value = json.loads(stream.read(REQUEST_AT_MOST))
            session, room = member(value.get("session")), member(value.get("room"))
        except (OSError, ValueError, AttributeError, RecursionError):
            pass
        self._desk.line(f"relay-request file={member(name)} session={session} room={room}")

    def _tell(self, network: str, item: dict[str, Any]) -> None:
        """Each item once, also after a restart: the journal knows what was told."""
        facts = {
            "seq": 0,
            "room": item["room"],
            "sender": item["from"],
            "thread": item["thread"],
            "needs": item["needs"],
            "at": self._desk.now(),
        }
        if not self._journal.write(lambda tx: tx.add_item(network, item["id"], **facts)):
            return
        state = PERSON if item["needs"] not in ("none", "agent") else HELD
        self._journal.write(lambda tx: tx.set_item(network, item["id"], state=state, reason="told to the session"))
        self._desk.line(
            f"komnet-inbox id={member(item['id'])} room={member(item['room'])} from={member(item['from'])} "
            f"needs={member(item['needs'])} priority={member(item['priority'])} kind={member(item['kind'])} "
            f"thread={member(item['thread'])}"
        )

    def _failed(self, reason: str) -> None:
        self._failures += 1
        if self._failures == DEGRADED_AFTER:
            self._desk.line(f"relay-degraded consecutive-failures={self._failures} reason={said(reason)}")


def _poll(named: str | None) -> int:
    try:
        return min(MOST_MS, max(LEAST_MS, int(named))) if named else DEFAULT_MS
    except ValueError:
        return DEFAULT_MS


RUN = {"gateway watch": watch}
