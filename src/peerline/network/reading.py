"""Reading rooms: from the tables alone, so that it costs the same whether the remote is there or not."""

from typing import NamedTuple

from peerline.core.ids import Millis
from peerline.core.post import Kind, Post
from peerline.core.threads import thread_order
from peerline.network.tables.api import Tx
from peerline.network.tables.posts import Stored


class Waiting(NamedTuple):
    """A post of ours that the remote has not got yet."""

    room: str
    id: str
    queued_at: Millis
    tries: int
    reason: str | None


class Started(NamedTuple):
    """A thread in a followed room that was opened by somebody and is not addressed to this agent."""

    room: str
    thread: str
    sender: str
    kind: str
    needs: str
    mentions: tuple[str, ...]
    at: Millis


def live(tx: Tx, room: str, limit: int | None, thread: str | None) -> list[Stored]:
    """The last `limit` posts in thread order of what stands on the room's branch."""
    numbers = [one.seq for one in thread_order([_Link(*row) for row in tx.posts.shape(room, thread)])]
    return tx.posts.by_seq(numbers[-limit:] if limit is not None else numbers)


class _Link(NamedTuple):
    id: str
    in_reply_to: str | None
    seq: int


def answer_of(tx: Tx, id: str, agent: str) -> Post | None:
    """The first answer that the agent gave to a post."""
    for stored in tx.posts.replies(id):
        post = stored.post
        if post.kind is Kind.ANSWER and post.sender == agent:
            return post
    return None


def started(post: Post) -> Started:
    return Started(
        room=post.room,
        thread=post.thread,
        sender=post.sender,
        kind=post.kind.value,
        needs=post.needs.value,
        mentions=post.mentions,
        at=post.ts,
    )
