"""What a person, or a session that plays the gateway, says became of an item; and draining it then."""

from typing import Any

from peerline.core.errors import Conflict, NotFound
from peerline.core.identifiers import EVERYONE
from peerline.core.ids import Millis
from peerline.gateway.journal import HELD, PERSON, ItemRow, Journal, JournalTx
from peerline.gateway.place import GatewayPlace
from peerline.gateway.reply_file import ReplyBox
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
    # Only a push that has ended is followed by another; one that may have begun is done again under its own key.
    handed = row.handed + (row.hub_message is not None)
    values: dict[str, Any] = {"rule": "person", "session": session, "reply_key": reply_key, "handed": handed}

    def work(tx: JournalTx) -> None:
        tx.set_item(row.network, id, state="routed", changed_at=now, **values)
        tx.forget_answer(row.network, id)

    journal.write(work)


def record_push(journal: Journal, id: str, report: str, now: Millis) -> None:
    """A session has pushed it by its own means; `report` is what the tool said.

    Raises:
        UnknownItem, ForAPerson, Conflict
    """
    row = _open(journal, id)

    def work(tx: JournalTx) -> None:
        tx.set_item(row.network, id, state="confirmed", rule="session", reason=report[:300], changed_at=now)
        _answer(tx, row)

    journal.write(work)


def file_reply(journal: Journal, place: GatewayPlace, id: str, text: str, now: Millis) -> str:
    """A session could not push it: the fenced text becomes a reply file of the project that asked; the file's name.

    Raises:
        UnknownItem, ForAPerson, OSError
        Conflict: it was delivered already, or nobody here left a reply key in its thread.
    """
    row = _open(journal, id)
    asked = journal.read(lambda tx: tx.request_of(row.thread))
    if asked is None or asked.reply_key is None:
        raise Conflict(
            f"nobody here asked in the thread of {id} and left a reply key, so there is no project to file it for; "
            "leave it held and tell your person"
        )
    file = ReplyBox(place.replies, asked.reply_key).put(id, row.room, row.sender, text).name

    def work(tx: JournalTx) -> None:
        values = {"session": asked.session, "reply_key": asked.reply_key, "file": file}
        tx.set_item(row.network, id, state="filed", rule="thread", reason="not pushed", changed_at=now, **values)
        _answer(tx, row)

    journal.write(work)
    return file


def confirm_taken(journal: Journal, place: GatewayPlace, row: ItemRow, now: Millis) -> bool:
    """Whether the reply file of a filed item was marked delivered; it is confirmed then."""
    if row.state != "filed" or not row.reply_key or not row.file:
        return False
    if not ReplyBox(place.replies, row.reply_key).taken(row.file):
        return False
    return journal.write(lambda tx: tx.set_item(row.network, row.id, was="filed", state="confirmed", changed_at=now))


def _answer(tx: JournalTx, row: ItemRow) -> None:
    """The asker's wait ends with the first answer of whom it asked; the thread leaves the routes."""
    asked = tx.request_of(row.thread)
    if asked is not None and asked.state == "sent" and asked.asked_agent in (None, EVERYONE, row.sender):
        tx.set_request(asked.stem, state="answered", told=0)


def dismiss(journal: Journal, id: str, now: Millis) -> None:
    """A person has seen a held item, and nobody needs it.

    Raises:
        UnknownItem, ForAPerson, Conflict
    """
    row = _open(journal, id)
    journal.write(
        lambda tx: tx.set_item(row.network, id, state="confirmed", rule="person", reason="dismissed", changed_at=now)
    )


def drain(journal: Journal, place: GatewayPlace, engine: Engine, id: str, now: Millis) -> None:
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
    if row.state == "filed" and not confirm_taken(journal, place, row, now):
        raise NotDelivered(f"{id} waits as a reply file that nobody has taken yet; it is drained when it was taken")
    if row.state not in ("confirmed", "filed"):
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
