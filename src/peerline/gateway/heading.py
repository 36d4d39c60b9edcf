"""Where an item goes when a session plays the gateway: the same rules, and the text that it pushes, ready."""

from dataclasses import dataclass
from typing import Literal

from peerline.core.errors import NotFound
from peerline.core.ids import Entropy, Millis
from peerline.core.routing import Hold, ToAsker, ToPerson, route
from peerline.gateway.inbound import fenced, item_of, wish_of
from peerline.gateway.journal import ItemRow, Journal
from peerline.network.engine import Engine


class NotInInbox(NotFound):
    """It was answered or drained meanwhile."""

    code = "NOT_IN_INBOX"


@dataclass(frozen=True, slots=True, kw_only=True)
class Heading:
    """`text` is fenced; for a person it is what they are shown, for a session what is pushed as it stands."""

    to: Literal["session", "person", "nobody"]
    session: str | None
    reason: str
    text: str


def heading(journal: Journal, engine: Engine, row: ItemRow, *, now: Millis, entropy: Entropy) -> Heading:
    """Raises: NotInInbox."""
    item = item_of(engine, row)
    if item is None:
        raise NotInInbox(f"{row.id} is no longer in the inbox: it was answered or drained")
    text = fenced(item, entropy)
    if row.rule == "person" and row.session:
        return Heading(to="session", session=row.session, reason="your person said so", text=text)
    routes = journal.read(lambda tx: tx.routes(now))
    found = route(
        needs=row.needs,
        thread=row.thread,
        room=row.room,
        sender=row.sender,
        wish=wish_of(item.post),
        routes=routes,
    )
    if isinstance(found, ToPerson):
        return Heading(to="person", session=None, reason="it needs a human", text=text)
    if isinstance(found, Hold):
        return Heading(to="nobody", session=None, reason=found.reason, text=text)
    if isinstance(found, ToAsker):
        return Heading(to="session", session=found.asker.session, reason="it asked in this thread", text=text)
    return Heading(to="session", session=found.session, reason=f"it serves #{row.room}", text=text)
