"""From the inbox to a local session: routed, pushed or filed, confirmed, and only then drained (design/gateway.md)."""

from collections.abc import Callable
from typing import Any, Final

from peerline.core.errors import PeerlineError
from peerline.core.fence import NONCE_BYTES, cut, render
from peerline.core.ids import Entropy, Millis
from peerline.core.limits import CONTENT
from peerline.core.post import Post
from peerline.core.routing import FOR_AGENTS, Asker, Hold, Route, ToAsker, ToPerson, route
from peerline.core.text import utf16_length
from peerline.gateway.answers import expects_answer
from peerline.gateway.journal import HELD, PERSON, ItemRow, Journal, JournalTx
from peerline.gateway.place import GatewayPlace
from peerline.gateway.reply_file import ReplyBox
from peerline.gateway.request_file import WISH
from peerline.gateway.sessions import Away, Sessions, Uncertain, Unreachable
from peerline.network.engine import Engine
from peerline.network.inbox import InboxItem, InboxQuery

FRAME: Final = 1_000  # what stands around a body, at most
WAITING: Final = ("sent", "withdrawing", "withdrawn")  # for the first answer, late or not


class Inbound:
    """`tell` is told of what waits for the person, is held or became a file: the item and why."""

    def __init__(
        self,
        place: GatewayPlace,
        journal: Journal,
        sessions: Sessions,
        *,
        now: Callable[[], Millis],
        entropy: Entropy,
        tell: Callable[[ItemRow, str], None],
        say: Callable[[str], None],
    ) -> None:
        self._place, self._journal, self._sessions = place, journal, sessions
        self._now, self._entropy, self._tell, self._say = now, entropy, tell, say

    def step(self, network: str, engine: Engine) -> None:
        """Take every item as far as it goes now."""
        self._arrive(network, engine)
        self._gone(network, engine)
        for row in self._of(network, "arrived"):
            self._route(row, engine)
        for row in self._of(network, "routed", "pushing"):
            self._push(row, engine)
        for row in self._of(network, "pushed", "filed"):
            self._confirm(row, engine)
        for row in self._of(network, "confirmed"):
            self._drain(row, engine)

    def _arrive(self, network: str, engine: Engine) -> None:
        for item in engine.arrived_after(self._journal.read(lambda tx: tx.seen(network))):
            post = item.post
            facts = {
                "seq": item.seq,
                "room": post.room,
                "sender": post.sender,
                "thread": post.thread,
                "needs": post.needs.value,
                "at": self._now(),
            }
            self._journal.write(lambda tx, id=post.id, facts=facts: tx.add_item(network, id, **facts), "arrived")  # type: ignore[misc]

    def _gone(self, network: str, engine: Engine) -> None:
        """What was answered or drained by somebody else needs nothing more."""
        waiting = {item.post.id for item in engine.inbox(InboxQuery(), showing=False).items}
        for row in self._of(network, "arrived", "routed", "pushing", PERSON, HELD):
            if row.id not in waiting:
                self._set(row, "gone", reason="answered or drained elsewhere")

    def _route(self, row: ItemRow, engine: Engine) -> None:
        item = item_of(engine, row)
        if item is None:
            return
        routes = self._journal.read(lambda tx: tx.routes(self._now()))
        found: Route = route(
            needs=row.needs,
            thread=row.thread,
            room=row.room,
            sender=row.sender,
            wish=wish_of(item.post),
            routes=routes,
        )
        if isinstance(found, ToPerson):
            self._stop(row, PERSON, "it needs a human; no agent answers it")
        elif isinstance(found, Hold):
            self._stop(row, HELD, found.reason)
        elif isinstance(found, ToAsker):
            self._to_asker(row, found.asker, found.answers)
        else:
            self._set(row, "routed", rule="subscription", session=found.session)

    def _to_asker(self, row: ItemRow, asker: Asker, answers: bool) -> None:
        asked = self._journal.read(lambda tx: tx.request_of(row.thread)) if answers else None
        self._set(
            row,
            "routed",
            rule="thread",
            session=asker.session,
            reply_key=asker.reply_key,
            project=asker.project,
            answers=asked.stem if asked is not None and asked.state in WAITING else None,
        )

    def _stop(self, row: ItemRow, state: str, reason: str) -> None:
        self._set(row, state, reason=reason)
        self._tell(row._replace(state=state), reason)

    def _push(self, row: ItemRow, engine: Engine) -> None:
        item = item_of(engine, row)
        if item is None:
            return
        try:
            hub_message, answered = self._hand_over(row, item)
        except Unreachable as why:
            asked_by_hub = row.project is not None and row.reply_key is None
            if isinstance(why, Away) and (row.state == "pushing" or asked_by_hub):
                self._say(f"relay-degraded push={row.id} reason={why.code}")
                return  # it may be there already, or has no other way
            self._file(row, self.text(item), why)
            return
        except Uncertain as why:
            self._say(f"relay-degraded push={row.id} reason={why.code}")
            return  # the same push again, with the next pass
        self._delivered(row, "pushed", answered=answered, hub_message=hub_message)

    def _hand_over(self, row: ItemRow, item: InboxItem) -> tuple[str, bool]:
        """To the session: as the reply of the hub's message that asked, else as a message of its own, which may be
        answered then.

        Raises: Unreachable, Uncertain
        """
        answers, late = row.answers, False
        asked = self._journal.read(lambda tx: tx.request(answers)) if answers else None
        if asked is not None and asked.hub_message is not None:
            self._set(row, "pushing")
            try:
                return self._sessions.reply(asked.hub_message, self.text(item)), False
            except Away:
                raise
            except Unreachable:
                late = True  # the asker waits for no reply any more, or has one
        session = row.session or ""
        self._sessions.find(session, row.project)
        self._set(row, "pushing")
        answered = row.needs in FOR_AGENTS and expects_answer(item.post)
        text = fenced(item, self._entropy, late=late, answered=answered)
        return self._sessions.push(session, row.project, text, key=row.push_key, thread=row.thread), answered

    def _file(self, row: ItemRow, text: str, why: Unreachable) -> None:
        """A push that failed becomes a file, never both; without a reply key there is nobody to file it for."""
        if row.reply_key is None:
            self._stop(row, HELD, f"{row.session} can't be reached ({why.text}) and left no reply key")
            return
        try:
            file = ReplyBox(self._place.replies, row.reply_key).put(row.id, row.room, row.sender, text)
        except (OSError, ValueError) as error:
            self._say(f"relay-degraded reply={row.id} reason={error}")
            return
        reason = f"filed, because {why.text}"
        self._delivered(row, "filed", file=file.name, reason=reason)
        self._tell(row._replace(state="filed"), reason)

    def _delivered(self, row: ItemRow, state: str, *, answered: bool = False, **values: Any) -> None:
        """It is with its session; what it answers is answered by the same step."""

        def work(tx: JournalTx) -> None:
            tx.set_item(row.network, row.id, state=state, changed_at=self._now(), **values)
            if answered:
                facts = {"room": row.room, "thread": row.thread, "sender": row.sender, "project": row.project}
                facts |= {"session": row.session, "hub_message": values["hub_message"]}
                tx.add_answer(row.network, row.id, at=self._now(), changed_at=self._now(), **facts)
            if row.answers is not None:
                tx.set_request(row.answers, state="answered", told=0)

        self._journal.write(work, state)

    def _confirm(self, row: ItemRow, engine: Engine) -> None:
        if row.state == "filed":
            if row.reply_key and row.file and ReplyBox(self._place.replies, row.reply_key).taken(row.file):
                self._set(row, "confirmed")
            return
        try:
            standing = self._sessions.standing(row.hub_message or "")
        except Unreachable:
            return
        if standing == "confirmed":
            self._set(row, "confirmed")
        elif standing == "gone" and (item := item_of(engine, row)) is not None:
            self._file(row, self.text(item), Unreachable("it was never taken from the hub"))

    def _drain(self, row: ItemRow, engine: Engine) -> None:
        """Exactly this one."""
        try:
            engine.drain([row.id])
        except PeerlineError as error:
            self._say(f"relay-degraded drain={row.id} reason={error.code}")
            return
        self._set(row, "drained")

    def text(self, item: InboxItem, *, late: bool = False) -> str:
        return fenced(item, self._entropy, late=late)

    def _of(self, network: str, *states: str) -> list[ItemRow]:
        return [row for row in self._journal.read(lambda tx: tx.items(*states)) if row.network == network]

    def _set(self, row: ItemRow, state: str, **values: Any) -> None:
        self._journal.write(
            lambda tx: tx.set_item(row.network, row.id, state=state, changed_at=self._now(), **values), state
        )


def fenced(item: InboxItem, entropy: Entropy, *, late: bool = False, answered: bool = False) -> str:
    """The post as a local session gets it: data in a fence, with its origin and how that was proved; it fits into
    one message of the hub. `answered`: what the session replies becomes the answer in the room."""
    post = item.post
    origin = {
        "from": post.sender,
        "room": post.room,
        "message": post.id,
        "thread": post.thread,
        "sender verified": "yes" if item.verified else f"no ({item.reason})",
    }
    if late:
        origin["late"] = "yes, the request that it answers is final"
    if answered:
        origin["your reply"] = f"becomes the answer in room {post.room}"
    body, nonce = post.body.rstrip("\n"), entropy(NONCE_BYTES)
    text, units = render(body, origin, nonce), utf16_length(body)
    while (length := utf16_length(text)) > CONTENT:
        units = units * (CONTENT - FRAME) // length  # marks and escapes make the one longer than the other
        text = render(cut(body, units), origin, nonce) + _rest(post)
    return text


def wish_of(post: Post) -> str | None:
    """The session that the sender asked for."""
    return next((tag.removeprefix(WISH) for tag in post.tags if tag.startswith(WISH)), None)


def _rest(post: Post) -> str:
    return f"\n(the rest: komnet read {post.room} --thread {post.thread})"


def item_of(engine: Engine, row: ItemRow) -> InboxItem | None:
    return next((item for item in engine.arrived_after(row.seq - 1) if item.post.id == row.id), None)
