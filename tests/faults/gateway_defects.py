"""Faults put into the gateway, each of which the kill campaign must find: else the campaign proves nothing."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

from peerline.core.errors import PeerlineError
from peerline.gateway import relay
from peerline.gateway.inbound import Inbound
from peerline.gateway.journal import ItemRow, JournalTx, RequestRow
from peerline.gateway.outbound import Outbound, post_of
from peerline.gateway.routes_file import PendingRoute, RoutesFile
from peerline.gateway.sessions import Unreachable
from peerline.network.engine import Engine


def sent_before_it_is_noted() -> None:
    """The post's id is made and noted when the post is out already."""

    def send(self: Outbound, row: RequestRow) -> None:
        try:
            request = self._hub.read(row) if row.hub_message else self._read(row)
            sent = self._engine(request.network).send(post_of(request))
        except PeerlineError:
            return
        self._note(
            row, "sending", post=sent.post.id, room=request.room, session=request.session, reply_key=request.reply_key
        )
        self._note(row, "sent", thread=sent.post.thread, told=0)

    Outbound._send = send  # type: ignore[method-assign]


def drained_when_pushed() -> None:
    """What was handed over is taken out of the inbox, whether anybody read it or not."""
    delivered = Inbound._delivered

    def eager(self: Inbound, row: ItemRow, state: str, **values: Any) -> None:
        delivered(self, row, state, **values)
        self._set(row, "confirmed")

    Inbound._delivered = eager  # type: ignore[method-assign]


def filed_and_pushed() -> None:
    """A file as well, to be on the safe side."""
    hand_over = Inbound._hand_over

    def both(self: Inbound, row: ItemRow, item: Any) -> tuple[str, bool]:
        pushed = hand_over(self, row, item)
        self._file(
            row._replace(reply_key=row.reply_key or "458696773"), self.text(item), Unreachable("to be on the safe side")
        )
        return pushed

    Inbound._hand_over = both  # type: ignore[method-assign]


def drained_by_room() -> None:
    """As the original's relay does: everything in the room goes with the item that was confirmed."""

    def drain(self: Inbound, row: ItemRow, engine: Engine) -> None:
        engine.drain([item.post.id for item in engine.arrived_after(0) if item.post.room == row.room])
        self._set(row, "drained")

    Inbound._drain = drain  # type: ignore[method-assign]


def told_before_it_is_written() -> None:
    """A result is noted as told, and then told."""
    tell = Outbound._tell

    def first(self: Outbound, row: RequestRow) -> None:
        self._journal.write(lambda tx: tx.set_request(row.stem, told=1), "told")
        tell(self, row)

    Outbound._tell = first  # type: ignore[method-assign]


def routes_written_in_place() -> None:
    """routes.json is emptied and written anew, so that a kill between leaves half of it."""

    def write(file: Path, routes: RoutesFile) -> None:
        pending = [_shown(one) for one in routes.pending]
        with file.open("w") as stream:
            stream.write('{"version": 1, "subscriptions": [], "pending": ')
            stream.flush()
            for _ in range(10):  # calls: at each of them a life may end
                Path(f"{file}.done").unlink(missing_ok=True)
            stream.write(json.dumps(pending) + "}")

    relay.write_routes = write  # type: ignore[attr-defined]


def persons_answered() -> None:
    """What needs a human goes where everything goes."""
    add = JournalTx.add_item

    def milder(self: JournalTx, network: str, id: str, **values: Any) -> bool:
        return add(self, network, id, **{**values, "needs": "agent"})

    JournalTx.add_item = milder  # type: ignore[method-assign]


def _shown(one: PendingRoute) -> dict[str, str]:
    return {"thread": one.thread, "session": one.session, "asked": one.asked, "summary": one.summary}


DEFECTS: Final[dict[str, Callable[[], None]]] = {
    defect.__name__: defect
    for defect in (
        sent_before_it_is_noted,
        drained_when_pushed,
        filed_and_pushed,
        drained_by_room,
        told_before_it_is_written,
        routes_written_in_place,
        persons_answered,
    )
}
