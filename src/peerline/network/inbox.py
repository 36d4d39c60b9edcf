"""The inbox as it is asked for: what waits, the most urgent first, and taking out exactly what was handled."""

from collections.abc import Collection, Iterable
from typing import NamedTuple

from peerline.core.post import Post
from peerline.network.clone import Clone
from peerline.network.health import Health, health
from peerline.network.refusals import UnknownPost
from peerline.network.tables.api import Tx
from peerline.network.tables.items import Item


class InboxQuery(NamedTuple):
    """None: all of them."""

    room: str | None = None
    needs: str | None = None
    tag: str | None = None
    thread: str | None = None


class InboxItem(NamedTuple):
    """`seq` is the order of arrival; `state`: pending, drained or resolved; `changed_at` when it stopped waiting."""

    seq: int
    post: Post
    path: str
    verified: bool
    failed: bool
    reason: str
    state: str
    changed_at: int | None


class InboxView(NamedTuple):
    health: Health
    items: tuple[InboxItem, ...]


class Drain(NamedTuple):
    """`drained`: what was taken out; `awaiting_human`: what was asked for and stays, since a person must answer it;
    `stale`: what was not pending any more."""

    drained: tuple[InboxItem, ...]
    awaiting_human: tuple[str, ...]
    stale: tuple[str, ...]


def inbox(clone: Clone, query: InboxQuery, rooms: Collection[str], *, showing: bool) -> InboxView:
    """What waits in the followed rooms. `showing`: it is put before the agent, which its receipt will say."""

    def read(tx: Tx) -> tuple[InboxView, bool]:
        items = tuple(item for _, item in _matching(tx, query, rooms))
        return InboxView(health=health(tx, clone.around.now()), items=items), tx.items.are_shown(_names(items))

    view, shown_before = clone.file.read(read)
    if showing and not shown_before:
        clone.file.write(lambda tx: tx.items.show(_names(view.items)))
    return view


def _names(items: Iterable[InboxItem]) -> list[tuple[str, str]]:
    return [(item.post.room, item.post.id) for item in items]


def drain(clone: Clone, ids: Iterable[str]) -> Drain:
    """Take out these items and no others, in one transaction.

    Raises:
        UnknownPost: one of them is no item of this inbox; nothing is taken out.
    """

    def work(tx: Tx) -> Drain:
        found: list[Item] = []
        for id in dict.fromkeys(ids):
            items = tx.items.by_id(id)
            if not items:
                raise UnknownPost(f"{id} is not in this inbox: it is new and not here yet (komnet sync), or wrong")
            found += items
        return _drained(tx, clone, found)

    return clone.file.write(work)


def arrived_after(clone: Clone, seq: int, rooms: Collection[str]) -> list[InboxItem]:
    """Pending items that came later than the one with this number, in the order of arrival."""

    def read(tx: Tx) -> list[InboxItem]:
        found = [_shown(tx, item) for item in tx.items.after(seq) if item.room in rooms]
        return [item for item in found if item is not None]

    return clone.file.read(read)


def item(clone: Clone, id: str) -> InboxItem | None:
    """The item of this inbox with this id, whether it still waits or not."""

    def read(tx: Tx) -> InboxItem | None:
        return next((shown for one in tx.items.by_id(id) if (shown := _shown(tx, one)) is not None), None)

    return clone.file.read(read)


def _drained(tx: Tx, clone: Clone, items: Iterable[Item]) -> Drain:
    drained: list[InboxItem] = []
    human: list[str] = []
    stale: list[str] = []
    for item in items:
        if item.state != "pending":
            stale.append(item.id)
        elif item.needs == "human":
            human.append(item.id)
        elif tx.items.drain(item.seq, clone.around.now()):
            tx.items.show([(item.room, item.id)])
            shown = _shown(tx, tx.items.by_seq(item.seq))
            if shown is not None:
                drained.append(shown)
    from peerline.network import publishing  # here: looking into an inbox writes no receipt

    for room in {item.post.room for item in drained}:
        publishing.queue_receipt(tx, clone, room)
    return Drain(drained=tuple(drained), awaiting_human=tuple(human), stale=tuple(stale))


def _matching(tx: Tx, query: InboxQuery, rooms: Collection[str]) -> list[tuple[Item, InboxItem]]:
    found: list[tuple[Item, InboxItem]] = []
    for item in tx.items.pending(query.room, query.needs, query.thread):
        if item.room not in rooms:
            continue
        shown = _shown(tx, item)
        if shown is not None and (query.tag is None or query.tag in shown.post.tags):
            found.append((item, shown))
    return found


def _shown(tx: Tx, item: Item) -> InboxItem | None:
    stored = next(iter(tx.posts.by_seq([item.seq])), None)
    if stored is None:
        return None
    return InboxItem(
        seq=item.seq,
        post=stored.post,
        path=stored.path,
        verified=stored.verified,
        failed=stored.failed,
        reason=stored.reason,
        state=item.state,
        changed_at=item.changed_at,
    )
