"""Writing a post: its thread, the reply budget, its signature; durable in the outbox before anything is tried."""

from pathlib import Path
from typing import Final

from peerline.core.ids import Millis
from peerline.core.post import AuthorKind, Kind, Post
from peerline.core.post_delivery import Outlook, forecast
from peerline.core.post_draft import PostDraft
from peerline.core.room import Authenticity
from peerline.core.threads import REPLY_BUDGET, budget_spent, reply_thread, thread_order
from peerline.network.authenticity import Verdict
from peerline.network.clone import Clone
from peerline.network.git.branches import room_branch
from peerline.network.record import manifest
from peerline.network.refusals import ReplyBudgetExceeded
from peerline.network.signing import sign, signing_key
from peerline.network.tables.api import Tx
from peerline.wire.card_files import read_card
from peerline.wire.members import MalformedFile
from peerline.wire.post_file import canonical, post_path, write_post
from peerline.wire.room_files import read_room, room_path

OWN: Final = Verdict(verified=True, reason="written here")


def compose(clone: Clone, draft: PostDraft, id: str, now: Millis) -> Post:
    """The post that `draft` becomes.

    Raises:
        ReplyBudgetExceeded: a person must speak first.
        InvalidPost
    """

    def work(tx: Tx) -> Post:
        parent = None
        if draft.in_reply_to is not None:
            stored = tx.posts.get(draft.room, draft.in_reply_to)
            parent = stored.post if stored is not None else None
        thread = reply_thread(draft.thread, draft.in_reply_to, parent)
        if thread is not None:
            _require_budget(tx, draft, thread)
        seen = tx.branches.get(room_branch(draft.room)).cursor
        return draft.post(id=id, sender=clone.identity.agent, ts=now, thread=thread, seen=seen)

    return clone.file.read(work)


def signed(clone: Clone, post: Post) -> Post:
    """The post with our signature, where the network asks for one.

    Raises:
        NoSigningKey, SigningFailed: nothing was written.
    """
    if manifest(clone).authenticity is not Authenticity.SIGNED:
        return post
    environ = clone.around.environ
    key = signing_key(clone.git.user.values.get("user.signingkey"), Path(environ.get("HOME") or "/nonexistent"))
    return post._replace(sig=sign(canonical(post), key, environ))


def queue(clone: Clone, post: Post) -> int:
    """Store it in the index and the outbox, durably; what it answers is resolved with it. Returns its number: of the
    first, where two queue one id at the same moment."""
    path, data = post_path(post), write_post(post)

    def work(tx: Tx) -> int:
        now = clone.around.now()
        seq = tx.posts.add(post, path, data, email=None, verdict=OWN, now=now)
        if seq is None:
            first = tx.posts.seq(post.room, post.id)
            assert first is not None
            return first
        tx.outbox.add(seq, post.room, now)
        if post.kind is Kind.ANSWER and post.in_reply_to:
            tx.items.resolve(post.in_reply_to, by_person=post.author is AuthorKind.HUMAN, now=now)
        return seq

    seq = clone.file.write(work)
    clone.around.probe("queued")
    return seq


def outlook(clone: Clone, mentions: tuple[str, ...], room: str) -> dict[str, Outlook]:
    """Whether each mentioned agent will see a post in the room, as far as its card tells."""
    if not mentions:
        return {}
    cards: dict[str, tuple[str, ...] | None] = {}
    files = clone.file.read(lambda tx: {name: tx.files.pushed(f"agents/{name}.yaml") for name in mentions})
    for name, data in files.items():
        try:
            if data is not None:
                cards[name] = read_card(name, data).subscriptions
        except MalformedFile:
            pass
    return forecast(mentions, room, clone.identity.agent, cards)


def reply_budget(tx: Tx, room: str) -> int:
    data = tx.files.get(room_path(room))
    try:
        return read_room(room, data).reply_budget if data is not None else REPLY_BUDGET
    except MalformedFile:
        return REPLY_BUDGET


def _require_budget(tx: Tx, draft: PostDraft, thread: str) -> None:
    posts = thread_order([stored.post for stored in tx.posts.thread(draft.room, thread)])
    budget = reply_budget(tx, draft.room)
    if budget_spent(draft, posts, budget):
        raise ReplyBudgetExceeded(
            f"{budget - 1} agents' posts in a row stand in thread {thread}: a person must speak there before the next. "
            "Nothing was written; show your user the thread, or open a new one for another matter"
        )
