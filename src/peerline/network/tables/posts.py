"""The index of posts: every one that was ever seen in a followed room, in the order of arrival, with its words."""

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Any, Final, NamedTuple

from peerline.core.ids import Millis
from peerline.core.post import Post
from peerline.database.sql import Sql
from peerline.wire.post_file import read_post

if TYPE_CHECKING:
    from peerline.network.authenticity import Verdict


class Stored(NamedTuple):
    """A post as it lies here. `live`: still on the room's branch, not sealed away; `verified`, `failed`
    and `reason` are the verdict on who wrote it."""

    seq: int
    path: str
    data: bytes
    live: bool
    email: str | None
    verified: bool
    failed: bool
    reason: str

    @property
    def post(self) -> Post:
        return read_post(self.path, self.data)


_SELECT: Final = "SELECT p.seq, p.path, p.data, p.live, p.email, p.verified, p.failed, p.reason FROM post p "
_SEARCH: Final = (
    "SELECT p.seq, p.path, p.data, p.live, p.email, p.verified, p.failed, p.reason FROM post p"
    " JOIN words w ON w.rowid = p.seq WHERE words MATCH :match"
    " AND p.room IN (SELECT value FROM json_each(:rooms)) ORDER BY w.rowid DESC LIMIT :limit"
)


class PostTable:
    def __init__(self, sql: Sql) -> None:
        self._sql = sql

    def add(
        self, post: Post, path: str, data: bytes, *, email: str | None, verdict: "Verdict", now: Millis
    ) -> int | None:
        """Its number; None when the room has a post of that id already."""
        added = self._sql.run(
            "INSERT OR IGNORE INTO post (room, id, path, thread, in_reply_to, sender, author, ts, kind, needs, live,"
            " arrived_at, email, verified, failed, reason, data) VALUES (:room, :id, :path, :thread, :parent, :sender,"
            " :author, :ts, :kind, :needs, 1, :now, :email, :verified, :failed, :reason, :data)",
            room=post.room,
            id=post.id,
            path=path,
            thread=post.thread,
            parent=post.in_reply_to,
            sender=post.sender,
            author=str(post.author),
            ts=post.ts,
            kind=str(post.kind),
            needs=str(post.needs),
            now=now,
            email=email,
            verified=int(verdict.verified),
            failed=int(verdict.failed),
            reason=verdict.reason,
            data=data,
        )
        if not added:
            return None
        seq = self.seq(post.room, post.id)
        assert seq is not None
        self._sql.put("INSERT INTO words (rowid, body) VALUES (:seq, :body)", {"seq": seq, "body": post.body})
        return seq

    def remove(self, seq: int, body: str) -> None:
        """Forget one that nobody else has; the index of words has to be told what it holds of it."""
        self._sql.run("INSERT INTO words (words, rowid, body) VALUES ('delete', :seq, :body)", seq=seq, body=body)
        self._sql.run("DELETE FROM post WHERE seq = :seq", seq=seq)

    def seq(self, room: str, id: str) -> int | None:
        row = self._sql.row("SELECT seq FROM post WHERE room = :room AND id = :id", room=room, id=id)
        return row[0] if row else None

    def get(self, room: str, id: str) -> Stored | None:
        return _one(self._sql.rows(_SELECT + "WHERE p.room = :room AND p.id = :id", room=room, id=id))

    def by_id(self, id: str) -> Stored | None:
        """The first to arrive, should two rooms hold the same id."""
        return _one(self._sql.rows(_SELECT + "WHERE p.id = :id ORDER BY p.seq LIMIT 1", id=id))

    def by_path(self, path: str) -> Stored | None:
        return _one(self._sql.rows(_SELECT + "WHERE p.path = :path ORDER BY p.seq LIMIT 1", path=path))

    def by_seq(self, numbers: Iterable[int]) -> list[Stored]:
        found: list[Stored] = []
        for seq in numbers:
            found += _all(self._sql.rows(_SELECT + "WHERE p.seq = :seq", seq=seq))
        return found

    def set_live(self, path: str, live: bool) -> None:
        self._sql.run("UPDATE post SET live = :live WHERE path = :path", live=int(live), path=path)

    def confirm(self, seq: int, *, email: str) -> None:
        """An own post came back from the remote."""
        self._sql.run("UPDATE post SET live = 1, email = :email WHERE seq = :seq", seq=seq, email=email)

    def unproved(self, sender: str, limit: int) -> list[Stored]:
        """Its newest posts of which the author could not be proved."""
        rows = self._sql.rows(
            _SELECT + "WHERE p.sender = :sender AND p.failed = 1 ORDER BY p.seq DESC LIMIT :limit",
            sender=sender,
            limit=limit,
        )
        return _all(rows)

    def judge(self, seq: int, verdict: "Verdict") -> None:
        self._sql.run(
            "UPDATE post SET verified = :verified, failed = :failed, reason = :reason WHERE seq = :seq",
            seq=seq,
            verified=int(verdict.verified),
            failed=int(verdict.failed),
            reason=verdict.reason,
        )

    def shape(self, room: str, thread: str | None = None) -> list[tuple[str, str | None, int]]:
        """Id, parent and number of every live post of the room: enough to put them in order."""
        rows = self._sql.rows(
            "SELECT id, in_reply_to, seq FROM post WHERE room = :room AND live = 1"
            " AND (:thread IS NULL OR thread = :thread)",
            room=room,
            thread=thread,
        )
        return [(id, parent, seq) for id, parent, seq in rows]

    def thread(self, room: str, thread: str) -> list[Stored]:
        """Live and sealed, in the order of arrival."""
        return _all(
            self._sql.rows(
                _SELECT + "WHERE p.room = :room AND p.thread = :thread ORDER BY p.seq", room=room, thread=thread
            )
        )

    def replies(self, id: str) -> list[Stored]:
        return _all(self._sql.rows(_SELECT + "WHERE p.in_reply_to = :id ORDER BY p.seq", id=id))

    def answered(self, id: str) -> tuple[bool, bool]:
        """Whether an answer to it is here that is not shown to be forged, and whether a person gave one."""
        rows = self._sql.rows(
            "SELECT author FROM post WHERE in_reply_to = :id AND kind = 'answer' AND failed = 0", id=id
        )
        return bool(rows), any(author == "human" for (author,) in rows)

    def newest(self, room: str, since: Millis | None, limit: int) -> list[Stored]:
        """Sealed ones too, the oldest first; `since` is compared with the senders' times."""
        rows = self._sql.rows(
            _SELECT + "WHERE p.room = :room AND p.ts >= :since ORDER BY p.seq DESC LIMIT :limit",
            room=room,
            since=since if since is not None else -(1 << 62),
            limit=limit,
        )
        return _all(rows)[::-1]

    def last_of(self, sender: str) -> Millis | None:
        """When its newest post says it was written."""
        row = self._sql.row("SELECT ts FROM post WHERE sender = :sender ORDER BY seq DESC LIMIT 1", sender=sender)
        return row[0] if row else None

    def paths(self, room: str) -> dict[str, int]:
        return dict(self._sql.rows("SELECT path, seq FROM post WHERE room = :room", room=room))

    def search(self, words: Sequence[str], rooms: Sequence[str], limit: int) -> list[Stored]:
        """Newest first; a post matches when it holds words that begin like each of `words`."""
        import json  # here: only a search needs it

        match = " ".join('"' + word.replace('"', '""') + '"*' for word in words if word.strip('" '))
        if not match:
            return []
        return _all(
            self._sql.rows(
                _SEARCH,
                match=match,
                rooms=json.dumps(list(rooms)),
                limit=limit,
            )
        )

    def count(self, room: str) -> int:
        row = self._sql.row("SELECT count(*) FROM post WHERE room = :room", room=room)
        return row[0] if row else 0


def _one(rows: list[tuple[Any, ...]]) -> Stored | None:
    return _all(rows)[0] if rows else None


def _all(rows: list[tuple[Any, ...]]) -> list[Stored]:
    return [
        Stored(seq, path, data, bool(live), email, bool(verified), bool(failed), reason)
        for seq, path, data, live, email, verified, failed, reason in rows
    ]
