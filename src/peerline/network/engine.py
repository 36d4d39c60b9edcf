"""One network of one agent: everything that can be done with it. Plain and synchronous; reads never need the remote.

All reading is `View`'s; here is what talks to the remote or writes. Several engines, in one process or in several, may
work on one home at the same time.
"""

import threading
from dataclasses import asdict
from typing import Final

from peerline.core.errors import Busy
from peerline.core.identifiers import room_id
from peerline.core.ids import Millis
from peerline.core.post import Post
from peerline.core.post_delivery import Outlook
from peerline.core.post_draft import PostDraft
from peerline.core.profile import Profile
from peerline.core.room import PostFact, Room
from peerline.core.threads import REPLY_BUDGET
from peerline.core.ulid import Ulids
from peerline.network import founding, guard, mentions, posting, publishing, room_founding, rooms, sync, withdrawing
from peerline.network.clone import Clone
from peerline.network.git.branches import MAIN, room_branch
from peerline.network.git.errors import GitFailed, RemoteFailed
from peerline.network.git.remote import heads
from peerline.network.place import Subscriptions
from peerline.network.refusals import UnknownRoom
from peerline.network.reports import Flushed, Sent, SyncReport
from peerline.network.rooms import RoomView
from peerline.network.tables.api import Tx
from peerline.network.view import View

SEND_S: Final = 10.0  # all a send waits for a remote that answers
AWAY_S: Final = 2.0  # and for one that did not, the last time


class Engine(View):
    def __init__(self, clone: Clone, subscriptions: Subscriptions) -> None:
        super().__init__(clone, subscriptions)
        self._around = clone.around
        self._ulids = Ulids(self._around.now, self._around.entropy)
        self._naming = threading.Lock()

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

    def withdraw(self, id: str, *, wait_lock: float = 2.0) -> bool:
        """Take back a post that still waits to go out, as if it never was; False: the remote has it already.

        Raises: Busy
        """
        return withdrawing.withdraw(self._clone, id, wait_lock=wait_lock)

    def report_posts(self, room: str, posts: tuple[PostFact, ...], *, every_ms: Millis) -> bool:
        """Say in our receipt what became here of posts that are addressed to us, at most once in `every_ms`. False:
        nothing is new, or it is not yet the time."""
        queued = publishing.queue_post_facts(self._clone, room, posts, every_ms=every_ms)
        if queued:
            self._tried()
        return queued

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

    # Reading

    def mentions(self, *, wait_lock: float = 30.0, limit_s: float | None = None) -> list[Post]:
        """Posts that mention this agent in rooms it does not follow; the one reading that asks the remote.

        Raises:
            RemoteFailed, Busy, GitFailed
        """
        return mentions.mentions(self._clone, self._subscriptions.get(), wait_lock=wait_lock, limit_s=limit_s)

    # Rooms and people

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
        room_founding.create(self._clone, config, wait_lock=30.0)
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

    def publish_card(self, *, announce: bool | None = None, session: str | None = None) -> bool:
        """Bring our card up to date; True: the remote has a new one, or gets it with the next push.

        `announce` True: we are there, in `session`; False: that session, or all of them, ended.
        """
        queued = publishing.queue_card(self._clone, self._subscriptions.get(), announce=announce, session=session)
        if queued:
            self._tried()
        return queued

    def publish_profile(self, profile: Profile) -> bool:
        """False when only its time would change.

        Raises: SecretDetected
        """
        guard.require_clean_fields(self._clone, asdict(profile))
        queued = publishing.queue_profile(self._clone, profile)
        if queued:
            self._tried()
        return queued
