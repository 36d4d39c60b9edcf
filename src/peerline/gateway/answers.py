"""A session's reply to what was pushed to it becomes the answer in the room's thread: sent once, or refused and told.

answer:   waiting → sending(post id) → sent | refused(code) | over

A reply that may not go out comes back to the session as a message; the reply to that one is the next try.
"""

from collections.abc import Callable
from typing import Any, Final

from peerline.core.errors import Busy, Conflict, Invalid, PeerlineError, Unavailable
from peerline.core.ids import Millis
from peerline.core.post import Kind, Post
from peerline.core.post_draft import PostDraft, draft
from peerline.gateway.attribution import RELAY_TAG, RefusedBefore, attributed, digest_of
from peerline.gateway.journal import AnswerRow, Journal
from peerline.gateway.sessions import Sessions, Unanswered, Uncertain, Unreachable
from peerline.network.engine import Engine
from peerline.network.scanner.refusal import SecretDetected

TRIES: Final = 3
OPEN: Final = ("waiting", "sending")
# What says that something is done, or is itself an answer, asks for no answer: else two machines could thank for ever.
UNANSWERED: Final = (Kind.ANSWER, Kind.STATUS, Kind.SYSTEM)
CORRECTABLE: Final = (SecretDetected, Invalid)


class AnsweredAlready(Conflict):
    code = "ANSWERED_ALREADY"


def expects_answer(post: Post) -> bool:
    return post.kind not in UNANSWERED


class Answers:
    def __init__(
        self, journal: Journal, sessions: Sessions, *, now: Callable[[], Millis], say: Callable[[str], None]
    ) -> None:
        self._journal, self._sessions, self._now, self._say = journal, sessions, now, say

    def step(self, network: str, engine: Engine) -> None:
        """Take every answer of the network as far as it goes now."""
        for row in self._journal.read(lambda tx: tx.answers(network, *OPEN)):
            try:
                self._send(row, engine)
            except (Unreachable, Uncertain):
                pass  # asked again with the next pass
            except (Busy, Unavailable) as error:
                self._say(f"relay-degraded answer={row.item} reason={error.code}")
        for row in self._journal.read(lambda tx: tx.untold_refusals(network)):
            self._tell(row)

    def _send(self, row: AnswerRow, engine: Engine) -> None:
        """Raises: Unreachable, Uncertain, Busy, Unavailable."""
        if row.post is not None and engine.find(row.post) is not None:
            self._sent(row)  # a gateway that ended had written it
            return
        try:
            text = self._sessions.answer(row.hub_message)
        except Unanswered:
            self._note(row, "over", state="over")
            return
        if text is None:
            return
        try:
            made = _post(row, text)
            self._require_may(row, text, engine)
            post_id = row.post or engine.new_id()
            if row.post is None:
                self._note(row, "answering", state="sending", post=post_id, digest=digest_of(text))
            engine.send(made, id=post_id)
        except (Busy, Unavailable):
            raise
        except PeerlineError as error:
            self._refuse(row, text, error)
            return
        self._sent(row)

    def _sent(self, row: AnswerRow) -> None:
        self._note(row, "answered", state="sent")
        self._say(f"relay-answer id={row.item} room={row.room} post={row.post or ''}".rstrip())

    def _require_may(self, row: AnswerRow, text: str, engine: Engine) -> None:
        """Raises: RefusedBefore, AnsweredAlready."""
        if self._journal.read(lambda tx: tx.refused_before(digest_of(text), row.session)):
            raise RefusedBefore
        if row.post is None and (mine := engine.answer_of(row.item, engine.agent)) is not None:
            raise AnsweredAlready(
                f"this machine has answered {row.item} with {mine.id} already, and an answer is permanent; "
                f"to say more: kxm peer send {row.sender}@{row.room} TEXT"
            )

    def _refuse(self, row: AnswerRow, text: str, error: PeerlineError) -> None:
        again = isinstance(error, CORRECTABLE) and row.tries + 1 < TRIES
        self._note(
            row,
            "answer refused",
            state="correcting" if again else "refused",
            code=error.code,
            detail=error.text,
            digest=digest_of(text),
            post=None,
            tries=row.tries + 1,
            told=0,
        )
        self._say(f"relay-refused id={row.item} room={row.room} code={error.code}")

    def _tell(self, row: AnswerRow) -> None:
        """The refusal, to the session whose words they were; what is told twice arrives once."""
        key = f"refused:{row.network}:{row.item}:{row.tries}"
        try:
            told = self._sessions.push(row.session, row.project, _refusal(row), key=key, thread=row.thread)
        except Uncertain:
            return
        except Unreachable as error:
            self._say(f"relay-degraded refusal={row.item} reason={error.code}")
            return
        again: dict[str, Any] = {"state": "waiting", "hub_message": told} if row.state == "correcting" else {}
        self._note(row, "answer told", told=1, **again)

    def _note(self, row: AnswerRow, step: str, **values: Any) -> None:
        self._journal.write(lambda tx: tx.set_answer(row.network, row.item, changed_at=self._now(), **values), step)


def _post(row: AnswerRow, text: str) -> PostDraft:
    """Raises: InvalidPost."""
    return draft(
        room=row.room,
        body=attributed(text, row.session),
        kind="answer",
        mentions=(row.sender,),
        tags=(RELAY_TAG,),
        in_reply_to=row.item,
        thread=row.thread,
    )


def _refusal(row: AnswerRow) -> str:
    then = (
        "Reply to this message with words that may go out, and they become the answer."
        if row.state == "correcting"
        else "Nothing more is sent for it; show your user what you wanted to say."
    )
    return (
        f"The komnet gateway did not send your answer to {row.sender} in #{row.room} ({row.code}): {row.detail}\n{then}"
    )
