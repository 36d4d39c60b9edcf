"""Messages on the hub that are for a room: claimed into the journal like request files, told by acknowledgement and
reply."""

from collections.abc import Callable

from peerline.core.agent import GATEWAY
from peerline.core.errors import Conflict, Unavailable
from peerline.core.ids import Millis
from peerline.gateway.journal import WAITED_MS, Journal, JournalTx, RequestRow
from peerline.gateway.request_file import Request
from peerline.gateway.room_address import request_of
from peerline.gateway.sessions import Asked, Away, Sessions, Uncertain, Unreachable

STEM = "hub/"  # no file's stem has a slash


class NotOffered(Unavailable):
    """The hub has not offered the message again since the gateway began; it will."""

    code = "NOT_OFFERED_YET"


class HubRequests:
    def __init__(
        self, journal: Journal, sessions: Sessions, *, now: Callable[[], Millis], say: Callable[[str], None]
    ) -> None:
        self._journal, self._sessions, self._now, self._say = journal, sessions, now, say

    def claim(self) -> None:
        for asked in self._sessions.asked():
            stem = STEM + asked.hub_message
            if self._journal.read(lambda tx, stem=stem: tx.request(stem)) is not None:  # type: ignore[misc]
                continue
            self._journal.write(lambda tx, asked=asked: self._add(tx, asked), "claimed")  # type: ignore[misc]
            self._say(f"relay-request message={asked.hub_message}")

    def _add(self, tx: JournalTx, asked: Asked) -> None:
        now = self._now()
        stem = STEM + asked.hub_message
        tx.add_request(stem, now)
        tx.set_request(
            stem,
            hub_message=asked.hub_message,
            project=asked.project,
            session=asked.session,
            until=max(asked.until, now + WAITED_MS),
        )

    def read(self, row: RequestRow) -> Request:
        """What a claimed message asks for.

        Raises:
            NotOffered: later; Withdrawn: nobody waits for it; BadAddress, InvalidIdentifier
        """
        assert row.hub_message is not None
        for asked in self._sessions.asked():
            if asked.hub_message == row.hub_message:
                return request_of(asked)
        if self._sessions.ended(row.hub_message):
            raise Withdrawn("it was cancelled or has expired before it was sent")
        raise NotOffered("the hub has not offered it again yet")

    def tell(self, row: RequestRow, arrived: Callable[[], bool]) -> bool:
        """Let the asker know what became of it; False: not yet. What is told twice is known once."""
        assert row.hub_message is not None
        try:
            if row.state == "refused":
                self._sessions.report(row.hub_message, "refused", GATEWAY, row.code or "")
                self._sessions.reply(
                    row.hub_message, f"the komnet gateway did not send this ({row.code}): {row.detail}"
                )
            elif row.state == "sent":
                if not arrived():
                    return False
                self._sessions.take(row.hub_message)
        except (Away, Uncertain) as error:
            self._say(f"relay-degraded message={row.hub_message} reason={error.code}")
            return False
        except Unreachable:
            pass  # it is final: nobody waits to be told
        return True


class Withdrawn(Conflict):
    code = "WITHDRAWN"
