"""Examining branches up to a commit: main for what is, rooms for what came."""

from contextlib import ExitStack
from types import TracebackType
from typing import Self

from peerline.core.card import Card
from peerline.core.post import Post
from peerline.core.room import Authenticity
from peerline.network import publishing
from peerline.network.arrivals import Arrivals
from peerline.network.authenticity import Signed, Verdict, verdict
from peerline.network.clone import Clone
from peerline.network.git.branches import MAIN, room_of
from peerline.network.git.objects import Objects
from peerline.network.record import manifest, update
from peerline.network.reports import SyncReport
from peerline.network.signing import Verifier
from peerline.wire.room_files import ALLOWED_SIGNERS


class Examination:
    """One process that reads objects, and what main says of who may write. `report` hears of everything found."""

    def __init__(self, clone: Clone, report: SyncReport) -> None:
        self._clone, self._report = clone, report
        self._objects = Objects(clone.git)
        self._open = ExitStack()
        self._forget()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._open.close()
        self._objects.close()

    def cursor(self, branch: str) -> str | None:
        return self._clone.file.read(lambda tx: tx.branches.get(branch).cursor)

    def examine(self, branch: str, tip: str) -> None:
        """Take in all that the branch has up to `tip`.

        Raises: GitFailed
        """
        room = room_of(branch)
        if branch == MAIN:
            self._forget()
            update(self._clone, self._objects, tip, self._report)
        elif room is not None:
            Arrivals(self._clone, self._objects, room, self._judge, self._report).examine(tip)

    def _forget(self) -> None:
        self._mode: Authenticity | None = None
        self._cards: dict[str, Card | None] = {}
        self._signed: Signed | None = None

    def _judge(self, post: Post, data: bytes, email: str) -> Verdict:
        if self._mode is None:
            self._mode = manifest(self._clone).authenticity
            if self._mode is Authenticity.SIGNED:
                signers = self._clone.file.read(lambda tx: tx.files.get(ALLOWED_SIGNERS)) or b""
                verifier = self._open.enter_context(Verifier(signers, self._clone.around.environ))
                self._signed = Signed(signers, verifier)
        if post.sender not in self._cards:
            self._cards[post.sender] = self._clone.file.read(lambda tx: publishing.card(tx, post.sender))
        return verdict(self._mode, post, data, card=self._cards[post.sender], author_email=email, signed=self._signed)
