"""A request that its asker cancelled: taken out of the outbox, or, once the remote has it, said in the thread, once.

request:  sent → withdrawing(post id of the status) → withdrawn
"""

from collections.abc import Callable
from typing import Any

from peerline.core.errors import Busy, PeerlineError, Unavailable
from peerline.core.ids import Millis
from peerline.core.post_draft import PostDraft, draft
from peerline.gateway.attribution import RELAY_TAG, attributed
from peerline.gateway.journal import Journal, RequestRow
from peerline.gateway.sessions import Sessions, Unreachable
from peerline.network.engine import Engine

SAID = "withdrawn: the session that asked has cancelled its request, so nobody waits for an answer"


class Withdrawals:
    def __init__(
        self,
        journal: Journal,
        engine: Callable[[str | None], Engine],
        sessions: Sessions,
        *,
        now: Callable[[], Millis],
        say: Callable[[str], None],
    ) -> None:
        self._journal, self._engine, self._sessions, self._now, self._say = journal, engine, sessions, now, say

    def step(self) -> None:
        for row in self._journal.read(lambda tx: tx.requests("sent", "withdrawing", "withdrawn")):
            if row.hub_message is None or row.post is None or row.over(self._now()):
                continue
            try:
                self._further(row, row.hub_message, row.post)
            except (Busy, Unavailable):
                pass  # with the next pass
            except PeerlineError as error:
                self._note(row, "withdrawn", state="withdrawn", withdrawal="", code=error.code, detail=error.text)
                self._say(f"relay-degraded withdrawal={row.stem} reason={error.code}")

    def _further(self, row: RequestRow, hub_message: str, post: str) -> None:
        """Raises: Busy, Unavailable, PeerlineError."""
        if row.state == "withdrawn" and row.withdrawal is not None:
            return
        if row.state == "sent":
            try:
                if not self._sessions.cancelled(hub_message):
                    return
            except Unreachable:
                return
        engine = self._engine(row.network)
        if row.state == "sent" and engine.withdraw(post):
            self._note(row, "withdrawn", state="withdrawn", told=1)
            self._say(f"relay-withdrawn request={row.stem} posted=no")
            return
        if engine.find(post) is None:
            return  # it never went out, and no lost push has carried it
        said = row.withdrawal or engine.new_id()
        if row.withdrawal is None:
            self._note(row, "withdrawing", state="withdrawing", withdrawal=said)
        engine.send(_status(row, post), id=said)
        self._note(row, "withdrawn", state="withdrawn", told=1)
        self._say(f"relay-withdrawn request={row.stem} posted={said}")

    def _note(self, row: RequestRow, step: str, **values: Any) -> None:
        self._journal.write(lambda tx: tx.set_request(row.stem, **values), step)


def _status(row: RequestRow, post: str) -> PostDraft:
    """Raises: InvalidPost."""
    return draft(
        room=row.room or "",
        body=attributed(SAID, row.session or ""),
        kind="status",
        mentions=(row.asked_agent,) if row.asked_agent else ("@room",),
        tags=(RELAY_TAG, "withdrawn"),
        in_reply_to=post,
        thread=row.thread,
    )
