"""Files of our own on main (card, profile, receipts): queued like posts, the last version of each goes out."""

from dataclasses import replace

from peerline.core.card import Card, GitAuthor, Human, Stamp, announced, departed, worth_publishing
from peerline.core.ids import Millis
from peerline.core.profile import Environment, Profile
from peerline.core.room import PostFact, Receipt
from peerline.network import guard
from peerline.network.clone import Clone
from peerline.network.tables.api import Tx
from peerline.network.tables.files import Record
from peerline.wire.card_files import card_path, read_card, read_receipt, receipt_path, write_card, write_receipt
from peerline.wire.members import MalformedFile
from peerline.wire.profile_file import profile_path, read_profile, write_profile

NOTHING_READ = "0" * 26


def queue_card(
    clone: Clone, rooms: tuple[str, ...], *, announce: bool | None = None, session: str | None = None
) -> bool:
    """Let our card say who we are and which rooms we follow; False when it says so already.

    `announce` True: we are there (in `session`); False: it has ended; None: presence stays as it stands.

    Raises: SecretDetected
    """
    now, author, me = clone.around.now(), clone.author, clone.identity
    own_words = {"display_name": me.display_name, "human": me.human, "tool": me.tool, "git_author": author.name}
    guard.require_clean_fields(clone, own_words)

    def work(tx: Tx) -> bool:
        before = card(tx, me.agent)
        stamp = before.presence if before else Stamp(last_seen=now)
        if announce is not None:
            stamp = (announced if announce else departed)(stamp, now, session)
        after = Card(
            id=me.agent,
            display_name=me.display_name,
            human=Human(
                name=me.human, timezone=me.timezone, working_hours=before.human.working_hours if before else None
            ),
            tool=me.tool,
            git_author=GitAuthor(name=author.name, email=author.email),
            expertise=before.expertise if before else (),
            speaks_for=before.speaks_for if before else (),
            subscriptions=tuple(sorted(rooms)),
            presence=stamp if announce is not None else replace(stamp, last_seen=stamp.last_seen or now),
            kept=before.kept if before else {},
        )
        if not worth_publishing(before, after, now, announce=announce is True):
            return False
        return tx.files.queue(Record(card_path(me.agent), write_card(after), f"komnet: agent {me.agent}"), now)

    return clone.file.write(work)


def card(tx: Tx, agent: str) -> Card | None:
    """The agent's card; None: there is none here, or it can't be read."""
    data = tx.files.get(card_path(agent))
    try:
        return read_card(agent, data) if data is not None else None
    except MalformedFile:
        return None


def profile(tx: Tx, agent: str) -> Profile | None:
    data = tx.files.get(profile_path(agent))
    try:
        return read_profile(agent, data) if data is not None else None
    except MalformedFile:
        return None


def first_profile(clone: Clone) -> Profile:
    """What stands there until the agent says more of itself."""
    return Profile(
        id=clone.identity.agent,
        updated_at=clone.around.now(),
        role="Agent",
        mission="Not described yet.",
        current_focus="Not described yet.",
        environment=Environment(client=clone.identity.tool),
    )


def queue_profile(clone: Clone, new: Profile) -> bool:
    """False when only its time would change."""

    def work(tx: Tx) -> bool:
        before = profile(tx, new.id)
        if before is not None and replace(before, updated_at=new.updated_at) == new:
            return False
        record = Record(profile_path(new.id), write_profile(new), f"komnet: profile {new.id}")
        return tx.files.queue(record, clone.around.now())

    return clone.file.write(work)


def receipt(tx: Tx, room: str, agent: str) -> Receipt | None:
    return _receipt(room, agent, tx.files.get(receipt_path(room, agent)))


def _receipt(room: str, agent: str, data: bytes | None) -> Receipt | None:
    try:
        return read_receipt(room, agent, data) if data is not None else None
    except MalformedFile:
        return None


def queue_post_facts(clone: Clone, room: str, posts: tuple[PostFact, ...], *, every_ms: Millis) -> bool:
    """What became here of posts that are addressed to us, beside what our receipt says; False: it says so, or it was
    written less than `every_ms` ago."""
    now, agent = clone.around.now(), clone.identity.agent

    def work(tx: Tx) -> bool:
        before = receipt(tx, room, agent) or Receipt(agent, room, NOTHING_READ, 0, 0)
        there = _receipt(room, agent, tx.files.pushed(receipt_path(room, agent)))
        if before.posts == posts or (there is not None and now - there.updated_at < every_ms):
            return False
        after = before._replace(posts=posts, updated_at=now)
        name = receipt_path(room, agent)
        return tx.files.queue(Record(name, write_receipt(after), f"komnet: receipt {agent} {room}"), now)

    return clone.file.write(work)


def queue_receipt(tx: Tx, clone: Clone, room: str) -> bool:
    """What our inbox has shown of the room, for the others; it goes out with the next push, not with one of its own."""
    read = tx.items.read_through(room)
    if read is None:
        return False
    agent = clone.identity.agent
    path = receipt_path(room, agent)
    before = receipt(tx, room, agent)
    through, count = read
    if before is not None and before.read_through >= through and before.total >= count:
        return False
    after = Receipt(
        agent=agent,
        room=room,
        read_through=through,
        total=count,
        updated_at=clone.around.now(),
        posts=before.posts if before is not None else (),
    )
    return tx.files.queue(Record(path, write_receipt(after), f"komnet: receipt {agent} {room}"), clone.around.now())
