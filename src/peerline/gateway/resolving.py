"""What a person, or a session that plays the gateway, says became of an item; and draining it then."""

from peerline.core.errors import Conflict, NotFound
from peerline.core.ids import Millis
from peerline.gateway.inbound import HELD, PERSON
from peerline.gateway.journal import ItemRow, Journal
from peerline.network.engine import Engine

TAKEN = ("arrived", "routed", HELD)


class UnknownItem(NotFound):
    code = "UNKNOWN_ITEM"


class NotDelivered(Conflict):
    """Draining is the record that a message was handled; nothing says that this one was."""

    code = "NOT_DELIVERED"


class ForAPerson(Conflict):
    """It needs a human, and only their own answer ends it."""

    code = "NEEDS_HUMAN"


def known(journal: Journal, id: str) -> ItemRow:
    """Raises: UnknownItem."""
    row = journal.read(lambda tx: tx.item(id))
    if row is None:
        raise UnknownItem(f"the gateway knows no item {id[:40]!a}: komnet gateway status")
    return row


def hand_to(journal: Journal, id: str, session: str, reply_key: str | None, now: Millis) -> None:
    """Let a held item go to a session, as if it had asked.

    Raises:
        UnknownItem, ForAPerson, Conflict
    """
    row = _open(journal, id)
    journal.write(
        lambda tx: tx.set_item(
            row.network, id, state="routed", rule="person", session=session, reply_key=reply_key, changed_at=now
        )
    )


def record_push(journal: Journal, id: str, report: str, now: Millis) -> None:
    """A session has pushed it by its own means; `report` is what the tool said.

    Raises:
        UnknownItem, ForAPerson, Conflict
    """
    row = _open(journal, id)
    journal.write(
        lambda tx: tx.set_item(row.network, id, state="confirmed", rule="session", reason=report[:300], changed_at=now)
    )


def dismiss(journal: Journal, id: str, now: Millis) -> None:
    """A person has seen a held item, and nobody needs it.

    Raises:
        UnknownItem, ForAPerson, Conflict
    """
    row = _open(journal, id)
    journal.write(
        lambda tx: tx.set_item(row.network, id, state="confirmed", rule="person", reason="dismissed", changed_at=now)
    )


def drain(journal: Journal, engine: Engine, id: str, now: Millis) -> None:
    """Take exactly this item out of the inbox.

    Raises:
        UnknownItem, ForAPerson
        NotDelivered: nothing says that it reached anybody.
    """
    row = known(journal, id)
    if row.needs not in ("none", "agent"):
        raise ForAPerson(f"{id} needs a human; it leaves the inbox when they have answered it, and not before")
    if row.state == "drained":
        return
    if row.state != "confirmed":
        raise NotDelivered(
            f"{id} is {row.state}: nothing records that it was delivered, so it is not drained; record what the push "
            f"reported with: komnet gateway resolve {id} --pushed '<report>'"
        )
    engine.drain([id])
    journal.write(lambda tx: tx.set_item(row.network, id, state="drained", changed_at=now))


def _open(journal: Journal, id: str) -> ItemRow:
    row = known(journal, id)
    if row.state == PERSON or row.needs not in ("none", "agent"):
        raise ForAPerson(f"{id} needs a human: show it to them; no session gets it, and nothing here ends it")
    if row.state not in TAKEN:
        raise Conflict(f"{id} is {row.state} already")
    return row
