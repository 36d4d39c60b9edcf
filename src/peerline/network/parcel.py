"""What goes to one branch in one commit (spec/network.md 3.12)."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from peerline.network.git.append import Addition
from peerline.network.git.branches import MAIN, room_branch
from peerline.network.tables.files import Record
from peerline.network.tables.outbox import Outgoing


@dataclass(frozen=True, slots=True, kw_only=True)
class Parcel:
    """Posts of one room, or files of our own for main."""

    branch: str
    posts: tuple[Outgoing, ...] = ()
    records: tuple[Record, ...] = ()

    def on(self, tip: str) -> Addition:
        """The commit on top of `tip`: one for all of it."""
        files = {post.path: post.data for post in self.posts} | {one.path: one.data for one in self.records}
        return Addition(branch=self.branch, tip=tip, message=self._message(), files=files)

    def _message(self) -> str:
        if self.records:
            subjects = list(dict.fromkeys(record.subject for record in self.records))
            return "\n\n".join([f"komnet: {len(subjects)} files", "\n".join(subjects)] if subjects[1:] else subjects)
        first = self.posts[0]
        what = f"{len(self.posts)} posts" if self.posts[1:] else first.kind
        return f"komnet: {what} in {first.room}\n\n" + "\n".join(post.id for post in self.posts)


def parcels(posts: Iterable[Outgoing], records: Iterable[Record]) -> Mapping[str, Parcel]:
    """All that waits, by branch, each room's posts in the order in which they were written."""
    rooms: dict[str, list[Outgoing]] = {}
    for post in posts:
        rooms.setdefault(room_branch(post.room), []).append(post)
    found = {branch: Parcel(branch=branch, posts=tuple(queued)) for branch, queued in rooms.items()}
    if own := tuple(records):
        found[MAIN] = Parcel(branch=MAIN, records=own)
    return found
