"""One network of one agent: everything that can be done with it. Plain and synchronous; reads never need the remote.

Several engines, in one process or in several, may work on one home at the same time.
"""

import threading
from collections.abc import Callable, Iterable, Mapping
from dataclasses import asdict
from typing import Final

from peerline.core.errors import Busy
from peerline.core.identifiers import room_id
from peerline.core.ids import Entropy, Millis
from peerline.core.post import Kind, Post, PostDraft
from peerline.core.post_delivery import Outlook
from peerline.core.profile import Profile
from peerline.core.room import Manifest, Receipt, Room
from peerline.core.threads import REPLY_BUDGET
from peerline.core.ulid import Ulids
from peerline.network import founding, guard, inbox, mentions, people, posting, publishing, reading, record, rooms, sync
from peerline.network.arrivals import started
from peerline.network.clone import Clone, Surroundings
from peerline.network.git.branches import MAIN, room_branch
from peerline.network.git.errors import GitFailed, RemoteFailed
from peerline.network.git.remote import heads
from peerline.network.health import health, is_away
from peerline.network.inbox import Drain, InboxItem, InboxQuery, InboxView
from peerline.network.people import Known
from peerline.network.place import Identity, Place, Subscriptions
from peerline.network.reading import Trace, Waiting
from peerline.network.refusals import NotSubscribed, UnknownPost, UnknownRoom
from peerline.network.reports import Flushed, Health, Sent, Started, SyncReport
from peerline.network.rooms import RoomView
from peerline.network.tables.api import Tx
from peerline.network.tables.posts import Stored
from peerline.network.tables.troubles import Trouble

SEND_S: Final = 10.0  # all a send waits for a remote that answers
AWAY_S: Final = 2.0  # and for one that did not, the last time


class Engine:
    def __init__(
        self,
        place: Place,
        identity: Identity,
        subscriptions: Subscriptions,
        *,
        now: Callable[[], Millis],
        entropy: Entropy,
        environ: Mapping[str, str],
        around: Surroundings | None = None,
    ) -> None:
        """`around` replaces clock, chance and environment as a whole.

        Raises: BadRemote
        """
        self._around = around or Surroundings(now=now, entropy=entropy, environ=environ)
        self._clone = Clone(place, identity, self._around)
        self._subscriptions = subscriptions
        self._ulids = Ulids(self._around.now, self._around.entropy)
        self._naming = threading.Lock()

    def close(self) -> None:
        self._clone.close()

    @property
    def agent(self) -> str:
        """Who this machine is in the network."""
        return self._clone.identity.agent

    # The remote

    def initialise(self, *, wait_lock: float = 30.0) -> bool:
        """Come to the network: make it of an empty repository, publish our card and a first profile. To do it again
        changes nothing. True: the repository was empty.

        Raises:
            RemoteFailed, NoNetwork, Busy, GitFailed
        """
        return founding.initialise(self._clone, self._subscriptions.get(), wait_lock=wait_lock)

    def sync(self, *, wait_lock: float = 30.0, limit_s: float | None = None) -> SyncReport:
        """Fetch and examine what moved, send what waits. Never raises for a remote that is away: `health` says so."""
        return sync.sync(self._clone, self._subscriptions.get(), wait_lock=wait_lock, limit_s=limit_s)

    def flush(self, *, wait_lock: float = 30.0, budget_s: float = 60.0, limit_s: float | None = None) -> Flushed:
        """Send what waits; with nothing waiting the remote is not talked to.

        Raises:
            Busy, GitFailed
        """
        return sync.flush(self._clone, wait_lock=wait_lock, budget_s=budget_s, limit_s=limit_s)

    def reach(self, *, limit_s: float | None = None) -> int:
        """Ask the remote for its branches and change nothing; how many of them are rooms.

        Raises:
            RemoteFailed, GitFailed
        """
        return sum(1 for branch in heads(self._clone.git, limit_s) if branch != MAIN)

    def policy_notices(self) -> tuple[str, ...]:
        """What a person should know of the network's policy: the scan switched off, a pattern that cannot be used."""
        return guard.policy(self._clone).notices

    def health(self) -> Health:
        return self._clone.file.read(lambda tx: health(tx, self._around.now()))

    def away(self) -> bool:
        """Whether the remote did not answer the last time it was asked."""
        return self._clone.file.read(is_away)

    # Writing

    def send(self, draft: PostDraft, *, push: bool = True, id: str | None = None) -> Sent:
        """Write a post. Once this returns it is kept for good and goes out by itself: never send it again.

        `push` False: only queue it; somebody else flushes. `id` is one that `new_id` gave: a call that is repeated
        under it after a crash writes nothing twice.

        Raises:
            NotSubscribed, SecretDetected, ReplyBudgetExceeded, InvalidPost: nothing was written.
            NoSigningKey, SigningFailed: nothing was written.
            Busy, StorageFull, StorageFailed: nothing was written.
        """
        known = self.post(draft.room, id) if id is not None else None
        if known is not None:
            return self._outcome(known.seq, known.post, None)
        self._require_followed(draft.room)
        guard.require_clean(self._clone, draft)
        post_id = id or self.new_id()
        post = posting.signed(self._clone, posting.compose(self._clone, draft, post_id, self._around.now()))
        seq = posting.queue(self._clone, post)
        return self._outcome(seq, post, self._tried() if push else None)

    def new_id(self) -> str:
        """An id for a post that is yet to be sent."""
        with self._naming:
            return self._ulids.next()

    def _outcome(self, seq: int, post: Post, reason: str | None) -> Sent:
        waiting, why = self._clone.file.read(lambda tx: (tx.outbox.is_queued(seq), tx.outbox.reason(seq)))
        reason = why or reason
        found = self.forecast(post.mentions, post.room)
        if not waiting and any(outlook is not Outlook.REACHES for outlook in found.values()):
            self._renew_main()  # who joined since the last sync is not said to be away
            found = self.forecast(post.mentions, post.room)
        return Sent(
            post=post, delivery="queued" if waiting else "pushed", reason=reason if waiting else None, forecast=found
        )

    def _renew_main(self) -> None:
        try:
            sync.renew_main(self._clone, wait_lock=AWAY_S, limit_s=AWAY_S)
        except (Busy, GitFailed, RemoteFailed):
            pass  # the post is at the remote; the forecast is what was known

    def forecast(self, mentions: tuple[str, ...], room: str) -> dict[str, Outlook]:
        """Whether each mentioned agent will see a post in the room, as far as its card tells."""
        return posting.outlook(self._clone, mentions, room)

    def _tried(self) -> str | None:
        """One bounded attempt; the reason why something may still wait."""
        limit = AWAY_S if self.away() else SEND_S
        try:
            return self.flush(wait_lock=limit, budget_s=limit, limit_s=limit).reason
        except (Busy, GitFailed) as error:
            return error.text

    # The inbox

    def inbox(self, query: InboxQuery = InboxQuery(), *, showing: bool = True) -> InboxView:  # noqa: B008
        """What waits for this agent, the most urgent first."""
        if query.room is not None:
            self._require_followed(query.room)
        return inbox.inbox(self._clone, query, self._subscriptions.get(), showing=showing)

    def item(self, id: str) -> InboxItem | None:
        """One item of the inbox, in whatever state it is now."""
        return inbox.item(self._clone, id)

    def drain(self, ids: Iterable[str]) -> Drain:
        """Take these items out of the inbox, and no others; one that waits for a person stays.

        Raises:
            UnknownPost: one is no item of this inbox; nothing is taken out.
        """
        return inbox.drain(self._clone, ids)

    # Reading

    def find(self, id: str) -> Stored | None:
        """A post of any room that is, or was, followed here; sealed ones too."""
        return self._clone.file.read(lambda tx: tx.posts.by_id(id))

    def post(self, room: str, id: str) -> Stored | None:
        return self._clone.file.read(lambda tx: tx.posts.get(room, id))

    def answer_of(self, id: str, agent: str) -> Post | None:
        """The first answer that the agent gave to the post."""
        return self._clone.file.read(lambda tx: reading.answer_of(tx, id, agent))

    def answers(self, id: str) -> list[Post]:
        """Every answer to the post that is not shown to be forged, in the order of arrival."""
        replies = self._clone.file.read(lambda tx: tx.posts.replies(id))
        return [reply.post for reply in replies if reply.post.kind is Kind.ANSWER and not reply.failed]

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

        def work(tx: Tx) -> Trace:
            stored = tx.posts.by_id(id)
            if stored is None:
                raise UnknownPost(f"no post {id} in the rooms followed here: it is new (komnet sync), or wrong")
            return reading.trace(tx, stored, self._clone.identity.agent)

        return self._clone.file.read(work)

    def receipts(self, room: str) -> list[Receipt]:
        """What each agent says it has read of the room, the newest first.

        Raises: NotSubscribed
        """
        self._require_followed(room)
        return self._clone.file.read(lambda tx: reading.receipts(tx, room))

    def mentions(self, *, wait_lock: float = 30.0, limit_s: float | None = None) -> list[Post]:
        """Posts that mention this agent in rooms it does not follow; the one reading that asks the remote.

        Raises:
            RemoteFailed, Busy, GitFailed
        """
        return mentions.mentions(self._clone, self._subscriptions.get(), wait_lock=wait_lock, limit_s=limit_s)

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

    def arrived_after(self, seq: int) -> list[InboxItem]:
        """Items that came into the inbox after the one with this number, in the order of arrival; 0: all of them."""
        return inbox.arrived_after(self._clone, seq, self._subscriptions.get())

    # Rooms and people

    def rooms(self) -> list[RoomView]:
        return self._clone.file.read(lambda tx: rooms.rooms(tx, self._subscriptions.get()))

    def room(self, room: str) -> RoomView:
        """Raises: UnknownRoom."""
        rooms.require_room(self._clone, room)
        return next(view for view in self.rooms() if view.room.id == room)

    def create_room(
        self, room: str, *, title: str | None = None, purpose: str = "", reply_budget: int = REPLY_BUDGET
    ) -> RoomView:
        """Open a room at the remote and follow it.

        Raises:
            InvalidIdentifier, SecretDetected, RoomExists, RemoteFailed, Busy, GitFailed
        """
        config = Room(
            id=room_id(room),
            title=title or room,
            purpose=purpose,
            created=self._around.now(),
            created_by=self._clone.identity.agent,
            reply_budget=reply_budget,
        )
        guard.require_clean_fields(self._clone, {"title": config.title, "purpose": purpose})
        rooms.create(self._clone, config, wait_lock=30.0)
        self.join(room)
        return self.room(room)

    def join(self, room: str) -> SyncReport:
        """Follow a room: its posts are fetched, and our card says so. Away from the remote it holds all the same.

        Raises:
            InvalidIdentifier, UnknownRoom
        """
        room_id(room)
        try:
            rooms.require_room(self._clone, room)
        except UnknownRoom:
            self.sync()
            rooms.require_room(self._clone, room)
        self._subscriptions.add(room)
        publishing.queue_card(self._clone, self._subscriptions.get())
        return self.sync()

    def leave(self, room: str) -> None:
        """Follow a room no more; what came stays here.

        Raises: NotSubscribed
        """
        self._require_followed(room)
        self._subscriptions.remove(room)
        publishing.queue_card(self._clone, self._subscriptions.get())
        self._tried()

    def confirm_rewrite(self, room: str) -> bool:
        """A person has seen that the room's history was replaced; False: it was not."""
        name = room_branch(room)

        def work(tx: Tx) -> bool:
            rewritten = tx.branches.get(name).rewritten_at is not None
            if rewritten:
                tx.branches.set(name, rewritten_at=None, rewritten_from=None)
            return rewritten

        return self._clone.file.write(work)

    def cards(self) -> list[Known]:
        """Every agent with a card, with profile and presence."""
        return self._clone.file.read(lambda tx: people.known(tx, self._around.now()))

    def publish_card(self, *, announce: bool | None = None, session: str | None = None) -> bool:
        """Bring our card up to date; True: the remote has a new one, or gets it with the next push.

        `announce` True: we are there, in `session`; False: that session, or all of them, ended.
        """
        queued = publishing.queue_card(self._clone, self._subscriptions.get(), announce=announce, session=session)
        if queued:
            self._tried()
        return queued

    def profile(self, agent: str | None = None) -> Profile | None:
        """An agent's profile, ours by default."""
        return self._clone.file.read(lambda tx: publishing.profile(tx, agent or self._clone.identity.agent))

    def publish_profile(self, profile: Profile) -> bool:
        """False when only its time would change.

        Raises: SecretDetected
        """
        guard.require_clean_fields(self._clone, asdict(profile))
        queued = publishing.queue_profile(self._clone, profile)
        if queued:
            self._tried()
        return queued

    def manifest(self) -> Manifest:
        """What kind of network this is, as main said when it was last seen."""
        return record.manifest(self._clone)

    def followed(self) -> tuple[str, ...]:
        """The rooms that are followed now."""
        return self._subscriptions.get()

    def _require_followed(self, room: str) -> None:
        followed = self._subscriptions.get()
        if room not in followed:
            raise NotSubscribed(
                f"{room} is not followed here (followed: {', '.join(followed) or 'none'}); join it first: "
                f"komnet room join {room}"
            )
