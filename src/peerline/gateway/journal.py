"""Everything the gateway is in the middle of, in one SQLite file; each step is on the disk before the next begins.

request:  claimed → sending(post id) → sent(thread) → answered | refused(code) | expired | withdrawn
item:     arrived → routed → pushing → pushed(hub message) | filed(path) → confirmed → drained
                  → waits-for-person | held(reason)
answer:   waiting → sending(post id) → sent | correcting | refused(code) | over
"""

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, NamedTuple, TypeVar

from peerline.core.ids import Millis
from peerline.database.shared_file import SharedFile
from peerline.database.sql import Sql
from peerline.gateway.journal_schema import SCHEMAS

if TYPE_CHECKING:
    from peerline.core.routing import Routes

T = TypeVar("T")
PERSON, HELD = "waits-for-person", "held"  # an item's states in which a person has to act
APPLICATION_ID: Final = 0x50454547  # "PEEG": a gateway's journal
WAITED_MS: Final = 86_400_000  # a thread that a file opened is waited for so long


class RequestRow(NamedTuple):
    stem: str
    network: str | None
    room: str | None
    session: str | None
    reply_key: str | None
    project: str | None
    hub_message: str | None
    asked_agent: str | None
    needs: str | None
    summary: str | None
    state: str
    post: str | None
    thread: str | None
    code: str | None
    detail: str | None
    at: Millis
    until: Millis | None  # answers are waited for so long; None: for a day
    withdrawal: str | None  # the post that says so in the room; empty: it could not be said
    far: str | None  # what its asker was told last of where it stands
    told: bool

    def over(self, now: Millis) -> bool:
        return now > (self.until or self.at + WAITED_MS)


class ItemRow(NamedTuple):
    """`answers`: the request whose answer it is, by its stem."""

    network: str
    id: str
    seq: int
    room: str
    sender: str
    thread: str
    needs: str
    state: str
    rule: str | None
    session: str | None
    reply_key: str | None
    project: str | None
    answers: str | None
    hub_message: str | None
    file: str | None
    reason: str | None
    at: Millis
    changed_at: Millis
    handed: int  # how often the person has given it to a session after a push that ended

    @property
    def push_key(self) -> str:
        """What a push is recognised by when it is done again; another hand-over is another push."""
        return f"{self.network}:{self.id}" + (f":{self.handed}" if self.handed else "")


class AnswerRow(NamedTuple):
    """What a session that an item was pushed to says to it; `post`: our own, once it has an id."""

    network: str
    item: str
    room: str
    thread: str
    sender: str
    session: str
    project: str | None
    hub_message: str
    state: str
    post: str | None
    code: str | None
    detail: str | None
    tries: int
    at: Millis


_REQUEST: Final = (
    "SELECT stem, network, room, session, reply_key, project, hub_message, asked_agent, needs, summary, state, post,"
    " thread, code, detail, at, until, withdrawal, far, told FROM request "
)
_ANSWER: Final = (
    "SELECT network, item, room, thread, sender, session, project, hub_message, state, post, code, detail, tries, at"
    " FROM answer "
)
_ITEM: Final = (
    "SELECT network, id, seq, room, sender, thread, needs, state, rule, session, reply_key, project, answers,"
    " hub_message, file, reason, at, changed_at, handed FROM item "
)


class JournalTx:
    """One transaction on the journal."""

    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    # Requests

    def add_request(self, stem: str, at: Millis) -> bool:
        """False: it is known already."""
        return bool(
            self._sql.run(
                "INSERT OR IGNORE INTO request (stem, state, at) VALUES (:stem, 'claimed', :at)", stem=stem, at=at
            )
        )

    def set_request(self, stem: str, **values: Any) -> None:
        members = ", ".join(f"{name} = :{name}" for name in values)
        self._sql.run(f"UPDATE request SET {members} WHERE stem = :stem", stem=stem, **values)  # noqa: S608

    def start_sending(self, stem: str, post: str, **facts: Any) -> str:
        """The id under which the request goes out: `post`, unless somebody chose one before."""
        if self._sql.row("SELECT 1 FROM request WHERE stem = :stem AND post IS NULL", stem=stem):
            self.set_request(stem, state="sending", post=post, **facts)
        (chosen,) = self._sql.row("SELECT post FROM request WHERE stem = :stem", stem=stem) or (post,)
        return str(chosen)

    def request(self, stem: str) -> RequestRow | None:
        return next(iter(self._requests("WHERE stem = :stem", stem=stem)), None)

    def requests(self, *states: str) -> list[RequestRow]:
        """Those in these states, the oldest first; without states the newest that are not over."""
        if not states:
            newest = "WHERE state NOT IN ('answered', 'expired') ORDER BY at DESC, stem DESC LIMIT 1000"
            return self._requests(newest)[::-1]
        where = "WHERE state = :state ORDER BY at, stem"
        return [row for state in states for row in self._requests(where, state=state)]

    def untold(self) -> list[RequestRow]:
        """Those whose result file has not been written for their present state."""
        return self._requests("WHERE told = 0 AND state NOT IN ('claimed', 'sending') ORDER BY at, stem")

    def refused_before(self, digest: str, session: str) -> bool:
        """Whether the very text was refused when another session brought it."""
        row = self._sql.row(
            "SELECT 1 FROM request WHERE digest = :digest AND session <> :session AND state = 'refused'"
            " AND code IN ('SECRET_DETECTED', 'REFUSED_BEFORE')"
            " UNION ALL SELECT 1 FROM answer WHERE digest = :digest AND session <> :session"
            " AND code IN ('SECRET_DETECTED', 'REFUSED_BEFORE')",
            digest=digest,
            session=session,
        )
        return row is not None

    def request_of(self, thread: str) -> RequestRow | None:
        """The request that opened the thread."""
        return next(iter(self._requests("WHERE thread = :thread ORDER BY at LIMIT 1", thread=thread)), None)

    def _requests(self, where: str, **values: Any) -> list[RequestRow]:
        names = RequestRow._fields
        rows = self._sql.rows(_REQUEST + where, **values)
        return [RequestRow(**{**dict(zip(names, row, strict=True)), "told": bool(row[-1])}) for row in rows]

    # Items

    def seen(self, network: str) -> int:
        row = self._sql.row("SELECT seq FROM seen WHERE network = :network", network=network)
        return row[0] if row else 0

    def add_item(self, network: str, id: str, **values: Any) -> bool:
        """It came into the inbox; False: it is known already."""
        added = bool(
            self._sql.run(
                "INSERT OR IGNORE INTO item (network, id, seq, room, sender, thread, needs, state, at, changed_at)"
                " VALUES (:network, :id, :seq, :room, :sender, :thread, :needs, 'arrived', :at, :at)",
                network=network,
                id=id,
                **values,
            )
        )
        self._sql.run(
            "INSERT INTO seen (network, seq) VALUES (:network, :seq)"
            " ON CONFLICT (network) DO UPDATE SET seq = max(seq, excluded.seq)",
            network=network,
            seq=values["seq"],
        )
        return added

    def set_item(self, network: str, id: str, *, was: str | None = None, **values: Any) -> bool:
        """Change an item; with `was` only if it is still in that state. False: it was not."""
        members = ", ".join(f"{name} = :{name}" for name in values)
        return bool(
            self._sql.run(
                f"UPDATE item SET {members} WHERE network = :network AND id = :id"  # noqa: S608
                " AND (:was IS NULL OR state = :was)",
                network=network,
                id=id,
                was=was,
                **values,
            )
        )

    def item(self, id: str) -> ItemRow | None:
        return next(iter(self._items("WHERE id = :id LIMIT 1", id=id)), None)

    def answer_to(self, stem: str) -> ItemRow | None:
        """The item that was handed over as the first answer to a request."""
        return next(
            iter(
                self._items(
                    "WHERE thread = (SELECT thread FROM request WHERE stem = :stem)"
                    " AND (file IS NOT NULL OR hub_message IS NOT NULL) ORDER BY answers IS NULL, at, id LIMIT 1",
                    stem=stem,
                )
            ),
            None,
        )

    def items(self, *states: str) -> list[ItemRow]:
        if not states:
            return self._items("WHERE state NOT IN ('drained', 'gone') ORDER BY at, id")
        return [row for state in states for row in self._items("WHERE state = :state ORDER BY at, id", state=state)]

    def items_since(self, network: str, at: Millis) -> list[ItemRow]:
        """All that changed then or later, whatever became of them."""
        return self._items("WHERE network = :network AND changed_at >= :at ORDER BY at, id", network=network, at=at)

    def _items(self, where: str, **values: Any) -> list[ItemRow]:
        names = ItemRow._fields
        return [ItemRow(**dict(zip(names, row, strict=True))) for row in self._sql.rows(_ITEM + where, **values)]

    # The holder

    def holder(self) -> int:
        (number,) = self._sql.row("SELECT number FROM holder") or (0,)
        return int(number)

    def next_holder(self) -> int:
        self._sql.run("UPDATE holder SET number = number + 1")
        return self.holder()

    # Answers

    def add_answer(self, network: str, item: str, **values: Any) -> bool:
        """What was pushed may be replied to; False: it is known already."""
        names = ", ".join(values)
        places = ", ".join(f":{name}" for name in values)
        return bool(
            self._sql.run(
                f"INSERT OR IGNORE INTO answer (network, item, state, {names})"  # noqa: S608
                f" VALUES (:network, :item, 'waiting', {places})",
                network=network,
                item=item,
                **values,
            )
        )

    def forget_answer(self, network: str, item: str) -> None:
        """What was pushed before is answered no more; the next push may be."""
        self._sql.run(
            "DELETE FROM answer WHERE network = :network AND item = :item AND state IN ('waiting', 'over')",
            network=network,
            item=item,
        )

    def set_answer(self, network: str, item: str, **values: Any) -> None:
        members = ", ".join(f"{name} = :{name}" for name in values)
        self._sql.run(
            f"UPDATE answer SET {members} WHERE network = :network AND item = :item",  # noqa: S608
            network=network,
            item=item,
            **values,
        )

    def answers(self, network: str, *states: str) -> list[AnswerRow]:
        where = "WHERE network = :network AND state = :state ORDER BY at, item"
        return [row for state in states for row in self._answers(where, network=network, state=state)]

    def untold_refusals(self, network: str) -> list[AnswerRow]:
        """Those that were refused and whose session does not know it yet."""
        where = "WHERE network = :network AND state IN ('correcting', 'refused') AND told = 0 ORDER BY at, item"
        return self._answers(where, network=network)

    def _answers(self, where: str, **values: Any) -> list[AnswerRow]:
        names = AnswerRow._fields
        return [AnswerRow(**dict(zip(names, row, strict=True))) for row in self._sql.rows(_ANSWER + where, **values)]

    # Routes

    def subscribe(self, session: str, room: str, *, default: bool) -> None:
        if default:
            self._sql.run("UPDATE subscription SET is_default = 0 WHERE room = :room", room=room)
        self._sql.run(
            "INSERT INTO subscription (session, room, is_default) VALUES (:session, :room, :is_default)"
            " ON CONFLICT (session, room) DO UPDATE SET is_default = excluded.is_default",
            session=session,
            room=room,
            is_default=int(default),
        )

    def unsubscribe(self, session: str, room: str | None) -> int:
        """None: from every room."""
        return self._sql.run(
            "DELETE FROM subscription WHERE session = :session AND (:room IS NULL OR room = :room)",
            session=session,
            room=room,
        )

    def subscriptions(self) -> list[tuple[str, str, bool]]:
        """Session, room, whether it is the room's default."""
        rows = self._sql.rows("SELECT session, room, is_default FROM subscription ORDER BY session, room")
        return [(session, room, bool(default)) for session, room, default in rows]

    def routes(self, now: Millis) -> "Routes":
        """Who waits in which thread and who serves which room, now."""
        from peerline.core.routing import Asker, Routes, Subscriber  # here: only the relay asks for routes

        pending = {
            row.thread: Asker(
                session=row.session or "",
                reply_key=row.reply_key,
                project=row.project,
                hub_message=row.hub_message if row.state == "sent" else None,
                asked_agent=row.asked_agent,
            )
            for row in self._requests(
                "WHERE state IN ('sent', 'withdrawing', 'withdrawn', 'answered') AND until > :now", now=now
            )
            + self._requests(
                "WHERE state IN ('sent', 'withdrawing', 'withdrawn', 'answered') AND until IS NULL AND at > :since",
                since=now - WAITED_MS,
            )
            if row.thread is not None
        }
        subscribed: dict[str, tuple[Subscriber, ...]] = {}
        for session, room, default in self.subscriptions():
            subscribed[room] = (*subscribed.get(room, ()), Subscriber(session=session, default=default))
        return Routes(pending=pending, subscribed=subscribed)


class TakenOver(Exception):
    """Another gateway has begun since this one did: nothing was written, and this one has nothing more to do."""


class Journal:
    """`probe` is told each step by name (tests end the process there)."""

    def __init__(self, path: Path, *, probe: Callable[[str], None] | None = None) -> None:
        self._file = SharedFile(path, application_id=APPLICATION_ID, schemas=SCHEMAS, tables=JournalTx)
        self._probe = probe or (lambda step: None)
        self._number: int | None = None

    def hold(self) -> None:
        """Be the gateway from now on: what an earlier one, paused or without its lock, would still write is refused."""
        self._number = self._file.write(lambda tx: tx.next_holder())

    def require_place(self) -> None:
        """Raises: TakenOver."""
        self._file.read(lambda tx: self._held(tx, lambda _: None))

    def write(self, work: Callable[[JournalTx], T], step: str = "") -> T:
        """Durable when this returns; `step` names it.

        Raises:
            TakenOver
        """
        value = self._file.write(lambda tx: self._held(tx, work))
        if step:
            self._probe(step)
        return value

    def _held(self, tx: JournalTx, work: Callable[[JournalTx], T]) -> T:
        if self._number not in (None, tx.holder()):
            raise TakenOver
        return work(tx)

    def read(self, work: Callable[[JournalTx], T]) -> T:
        return self._file.read(work)

    def close(self) -> None:
        self._file.close()
