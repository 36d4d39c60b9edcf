"""`komnet gateway watch`: the lines for a session that plays the gateway (spec/network.md 9.6).

It claims requests and tells of items; what follows is the session's own, and it records the outcome with `resolve`.
"""

import select
from collections.abc import Iterator
from pathlib import Path
from typing import Any, Final

from peerline.cli.hot_output import READER_GONE
from peerline.cli.komnet.desk import Desk
from peerline.cli.komnet.gateway import only_gateway, taken_over
from peerline.core.errors import PeerlineError
from peerline.gateway import resolving
from peerline.gateway.claims import claim, request_files
from peerline.gateway.journal import HELD, PERSON, ItemRow, Journal, TakenOver
from peerline.gateway.place import GatewayPlace
from peerline.gateway.request_file import UnreadableRequest, request_bytes
from peerline.gateway.watch_lines import Sight, armed, item_line, poll_ms, request_line
from peerline.network.calls import Calls

DEBOUNCE_MS: Final = 300
UNHANDLED: Final = ("arrived", "routed", HELD, PERSON)


def watch(desk: Desk) -> int:
    poll = poll_ms(desk.env.get("KOMNET_RELAY_POLL_MS"))
    try:
        with only_gateway(desk) as place:
            watching = Watching(desk, place)
            desk.line(armed(poll, inbox=False, requests=True, home=str(desk.home.folder)))
            watching.unfinished()
            watching.look()
            for _ in _waits(place.requests, poll):
                if _reader_gone():
                    return READER_GONE
                watching.look()
    except BrokenPipeError:
        return READER_GONE
    except TakenOver:
        raise taken_over() from None
    return 0


def _waits(requests: Path, poll: int) -> Iterator[object]:
    """Until the poll is due, or a request comes; a notification that is missed costs time alone."""
    import watchfiles

    return watchfiles.watch(
        requests, watch_filter=None, debounce=DEBOUNCE_MS, rust_timeout=poll, yield_on_timeout=True, recursive=False
    )


def _reader_gone() -> bool:
    """Whether nobody reads the lines any more: what is claimed now would be told to nobody."""
    pipe = select.poll()
    pipe.register(1, 0)
    return any(event & (select.POLLERR | select.POLLHUP) for _, event in pipe.poll(0))


class Watching:
    """What is unhandled is told again by another run: the journal knows what became of each item."""

    def __init__(self, desk: Desk, place: GatewayPlace) -> None:
        self._desk, self._place = desk, place
        self._journal = Journal(place.journal)
        self._journal.hold()
        self._calls: Calls | None = None
        self._sight = Sight()
        self._told: set[tuple[str, str]] = set()

    def unfinished(self) -> None:
        """Requests that a session before this one claimed and did not send."""
        for name in request_files(self._place.claimed):
            stem = name.removesuffix(".json")
            row = self._journal.read(lambda tx, stem=stem: tx.request(stem))  # type: ignore[misc]
            if row is None or row.state in ("claimed", "sending"):
                self._request(name)

    def look(self) -> None:
        # Their names go into commands that the session types.
        for name in claim(self._place, self._journal, request_files(self._place.requests), plain=True):
            self._request(name)
        named = self._desk.call.text("--network")
        try:
            self._calls = self._calls or self._desk.calls()
            if self._calls.mode == "direct":
                self._calls.call("sync", {}, named)  # a read alone would not look at the remote each time
            view = self._calls.call("inbox", {}, named)
            network = self._calls.call("status", {}, named)["networkId"]
            self._drain_taken(self._calls, network)
        except PeerlineError as error:
            self._calls = None  # a daemon that went away is looked for again
            self._lines(self._sight.failed(error.text))
            return
        health = view["health"]
        degraded = health.get("degraded")
        self._lines(self._sight.failed(health.get("reason") or "never synced") if degraded else self._sight.well())
        for item in view["items"]:
            self._tell(network, item)

    def _request(self, name: str) -> None:
        try:
            data = request_bytes(self._place.claimed / name).data
        except (OSError, UnreadableRequest):
            data = b""
        self._desk.line(request_line(name, data))

    def _tell(self, network: str, item: dict[str, Any]) -> None:
        if (network, item["id"]) in self._told:
            return
        self._told.add((network, item["id"]))
        row = self._noted(network, item)
        if row is not None and row.state in UNHANDLED:
            self._desk.line(item_line(item))

    def _noted(self, network: str, item: dict[str, Any]) -> ItemRow | None:
        facts = {
            "seq": 0,
            "room": item["room"],
            "sender": item["from"],
            "thread": item["thread"],
            "needs": item["needs"],
            "at": self._desk.now(),
        }
        state = PERSON if item["needs"] not in ("none", "agent") else HELD
        self._journal.write(lambda tx: tx.add_item(network, item["id"], **facts))
        self._journal.write(
            lambda tx: tx.set_item(network, item["id"], was="arrived", state=state, reason="told to the session")
        )
        return self._journal.read(lambda tx: tx.item(item["id"]))

    def _drain_taken(self, calls: Calls, network: str) -> None:
        """A reply file that was marked delivered is the recorded result: its item leaves the inbox, by its own id."""
        for row in self._journal.read(lambda tx: tx.items("filed", "confirmed")):
            if row.network != network or row.file is None:
                continue
            if row.state == "confirmed" or resolving.confirm_taken(self._journal, self._place, row, self._desk.now()):
                calls.call("inboxDrain", {"ids": [row.id]}, network)
                self._journal.write(lambda tx, id=row.id: tx.set_item(network, id, state="drained"))  # type: ignore[misc]

    def _lines(self, lines: list[str]) -> None:
        for line in lines:
            self._desk.line(line)


RUN = {"gateway watch": watch}
