"""Whom a post is for, and how far it has come with each."""

from typing import NamedTuple

from peerline.core.card import Card
from peerline.core.identifiers import EVERYONE
from peerline.core.ids import Millis
from peerline.core.post import Kind
from peerline.core.post_delivery import Outlook, forecast
from peerline.core.room import Receipt
from peerline.network import publishing
from peerline.network.tables.api import Tx
from peerline.network.tables.posts import Stored
from peerline.wire.card_files import read_receipt
from peerline.wire.members import MalformedFile


class Recipient(NamedTuple):
    """Whom a post is for, and what is known of its way. `outlook`: whether the agent's card lists the room."""

    agent: str
    outlook: Outlook
    read: bool
    read_at: Millis | None
    answered: bool


class Trace(NamedTuple):
    """`waits`: it is still queued here, and why the remote has not got it."""

    stored: Stored
    pushed: bool
    waits: str | None
    recipients: tuple[Recipient, ...]


def trace(tx: Tx, stored: Stored, me: str) -> Trace:
    """How far a post has come: at the remote, and with each agent it is for."""
    post = stored.post
    cards = {card.id: card.subscriptions for card in _cards(tx)}
    agents = [name for name in post.mentions if name != EVERYONE]
    if EVERYONE in post.mentions or (post.needs.value == "human" and not post.mentions):
        agents += [name for name, rooms in sorted(cards.items()) if rooms and post.room in rooms]
    outlooks = forecast(dict.fromkeys(agents), post.room, post.sender, cards)
    read = {receipt.agent: receipt for receipt in receipts(tx, post.room)}
    answered = {reply.post.sender for reply in tx.posts.replies(post.id) if reply.post.kind is Kind.ANSWER}
    waiting = tx.outbox.is_queued(stored.seq)
    return Trace(
        stored=stored,
        pushed=not waiting,
        waits=tx.outbox.reason(stored.seq) if waiting else None,
        recipients=tuple(
            Recipient(
                agent=agent,
                outlook=outlook,
                read=agent in answered or (agent in read and read[agent].read_through >= post.id),
                read_at=read[agent].updated_at if agent in read and read[agent].read_through >= post.id else None,
                answered=agent in answered,
            )
            for agent, outlook in outlooks.items()
        ),
    )


def receipts(tx: Tx, room: str) -> list[Receipt]:
    """What each agent says it has read of the room, the newest first."""
    found: list[Receipt] = []
    for path, data in tx.files.below(f"rooms/{room}/receipts/").items():
        try:
            found.append(read_receipt(room, path.rpartition("/")[2].removesuffix(".json"), data))
        except MalformedFile:
            pass
    return sorted(found, key=lambda one: one.updated_at, reverse=True)


def _cards(tx: Tx) -> list[Card]:
    names = [path.removeprefix("agents/").removesuffix(".yaml") for path in tx.files.below("agents/")]
    return [card for name in names if (card := publishing.card(tx, name)) is not None]
