"""What one network's tables tell: all reading, and taking out of the inbox. Neither git nor the remote is asked.

A command that only reads loads this and little more; what few of them need is imported where it is used.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from peerline.core.ids import Millis
from peerline.network import inbox, reading
from peerline.network.clone import Clone
from peerline.network.git.branches import room_branch
from peerline.network.health import Health, health, is_away
from peerline.network.inbox import Drain, InboxItem, InboxQuery, InboxView
from peerline.network.place import Subscriptions
from peerline.network.reading import Started, Waiting, started
from peerline.network.refusals import NotSubscribed, UnknownPost
from peerline.network.tables.api import Tx
from peerline.network.tables.posts import Stored
from peerline.network.tables.troubles import Trouble

if TYPE_CHECKING:
    from peerline.core.post import Post
    from peerline.core.profile import Profile
    from peerline.core.room import Manifest, Receipt
    from peerline.network.people import Known
    from peerline.network.rooms import RoomView
    from peerline.network.tracing import Trace


class View:
    """Reading, for one agent. What it finds is as of the last sync; `health` says when that was."""

    def __init__(self, clone: Clone, subscriptions: Subscriptions) -> None:
        self._clone, self._subscriptions = clone, subscriptions

    def close(self) -> None:
        self._clone.close()

    @property
    def agent(self) -> str:
        """Who this machine is in the network."""
        return self._clone.identity.agent

    # The inbox

    def inbox(self, query: InboxQuery = InboxQuery(), *, showing: bool = True) -> InboxView:  # noqa: B008
        """What waits for this agent, the most urgent first."""
        if query.room is not None:
            self._require_followed(query.room)
        return inbox.inbox(self._clone, query, self._subscriptions.get(), showing=showing)

    def drain(self, ids: Iterable[str]) -> Drain:
        """Take these items out of the inbox, and no others; one that waits for a person stays.

        Raises:
            UnknownPost: one is no item of this inbox; nothing is taken out.
        """
        return inbox.drain(self._clone, ids)

    def item(self, id: str) -> InboxItem | None:
        """One item of the inbox, in whatever state it is now."""
        return inbox.item(self._clone, id)

    def arrived_after(self, seq: int) -> list[InboxItem]:
        """Items that came into the inbox after the one with this number, in the order of arrival; 0: all of them."""
        return inbox.arrived_after(self._clone, seq, self._subscriptions.get())

    # Posts

    def find(self, id: str) -> Stored | None:
        """A post of any room that is, or was, followed here; sealed ones too."""
        return self._clone.file.read(lambda tx: tx.posts.by_id(id))

    def post(self, room: str, id: str) -> Stored | None:
        return self._clone.file.read(lambda tx: tx.posts.get(room, id))

    def answer_of(self, id: str, agent: str) -> Post | None:
        """The first answer that the agent gave to the post."""
        return self._clone.file.read(lambda tx: reading.answer_of(tx, id, agent))

    def replies(self, id: str) -> list[Post]:
        """Every reply to the post that is not shown to be forged, in the order of arrival."""
        replies = self._clone.file.read(lambda tx: tx.posts.replies(id))
        return [reply.post for reply in replies if not reply.failed]

    def read(self, room: str, limit: int | None = 50, thread: str | None = None) -> list[Stored]:
        """What stands on the room's branch now: the last `limit` in thread order.

        Raises: NotSubscribed
        """
        self._require_followed(room)
        return self._clone.file.read(lambda tx: reading.live(tx, room, limit, thread))

    def history(self, room: str, since: Millis | None = None, limit: int = 1_000) -> list[Stored]:
        """The newest posts by arrival, the oldest of them first; sealed ones too.

        Raises: NotSubscribed
        """
        self._require_followed(room)
        return self._clone.file.read(lambda tx: tx.posts.newest(room, since, limit))

    def search(self, words: str, room: str | None = None, limit: int = 20) -> list[Stored]:
        """Posts with words that begin like each of `words`, newest first, sealed ones too.

        Raises: NotSubscribed
        """
        followed = self._subscriptions.get()
        if room is not None:
            self._require_followed(room)
        return self._clone.file.read(
            lambda tx: tx.posts.search(words.split(), [room] if room is not None else list(followed), limit)
        )

    def trace(self, id: str) -> Trace:
        """How far a post has come.

        Raises: UnknownPost
        """

        from peerline.network import tracing

        def work(tx: Tx) -> Trace:
            stored = tx.posts.by_id(id)
            if stored is None:
                raise UnknownPost(f"no post {id} in the rooms followed here: it is new (komnet sync), or wrong")
            return tracing.trace(tx, stored, self._clone.identity.agent)

        return self._clone.file.read(work)

    def receipts(self, room: str) -> list[Receipt]:
        """What each agent says it has read of the room, the newest first.

        Raises: NotSubscribed
        """
        from peerline.network import tracing

        self._require_followed(room)
        return self._clone.file.read(lambda tx: tracing.receipts(tx, room))

    def waits(self, id: str) -> Waiting | None:
        """Why a post of ours is still queued; None: the remote has it, or it is not ours."""
        return next((one for one in self.waiting() if one.id == id), None)

    def waiting(self) -> list[Waiting]:
        """What the remote has not got yet, in the order in which it was written."""
        queued = self._clone.file.read(lambda tx: tx.outbox.queued())
        return [
            Waiting(room=one.room, id=one.id, queued_at=one.queued_at, tries=one.tries, reason=one.reason)
            for one in queued
        ]

    def started(self, limit: int = 20) -> list[Started]:
        """Threads that others opened in followed rooms and that are addressed to somebody else, the newest first."""
        stored = self._clone.file.read(lambda tx: tx.posts.by_seq(tx.started.newest(limit)))
        return [started(one.post) for one in stored]

    # The network

    def health(self) -> Health:
        return self._clone.file.read(lambda tx: health(tx, self._clone.around.now()))

    def away(self) -> bool:
        """Whether the remote did not answer the last time it was asked."""
        return self._clone.file.read(is_away)

    def troubles(self, limit: int = 50) -> list[Trouble]:
        """What was found wrong in the repository, the newest first."""
        return self._clone.file.read(lambda tx: tx.troubles.newest(limit))

    def heads(self) -> dict[str, str]:
        """The commit up to which each followed room was examined."""
        branches = self._clone.file.read(lambda tx: tx.branches.all())
        return {
            room: branch.cursor
            for room in self._subscriptions.get()
            if (branch := branches.get(room_branch(room))) is not None and branch.cursor is not None
        }

    def followed(self) -> tuple[str, ...]:
        """The rooms that are followed now."""
        return self._subscriptions.get()

    def rooms(self) -> list[RoomView]:
        from peerline.network import rooms

        return self._clone.file.read(lambda tx: rooms.rooms(tx, self._subscriptions.get()))

    def room(self, room: str) -> RoomView:
        """Raises: UnknownRoom."""
        from peerline.network import rooms

        rooms.require_room(self._clone, room)
        return next(view for view in self.rooms() if view.room.id == room)

    def manifest(self) -> Manifest:
        """What kind of network this is, as main said when it was last seen."""
        from peerline.network import record

        return record.manifest(self._clone)

    # People

    def cards(self) -> list[Known]:
        """Every agent with a card, with profile and presence."""
        from peerline.network import people

        return self._clone.file.read(lambda tx: people.known(tx, self._clone.around.now()))

    def profile(self, agent: str | None = None) -> Profile | None:
        """An agent's profile, ours by default."""
        from peerline.network import publishing

        return self._clone.file.read(lambda tx: publishing.profile(tx, agent or self._clone.identity.agent))

    def _require_followed(self, room: str) -> None:
        followed = self._subscriptions.get()
        if room not in followed:
            raise NotSubscribed(
                f"{room} is not followed here (followed: {', '.join(followed) or 'none'}); join it first: "
                f"komnet room join {room}"
            )
