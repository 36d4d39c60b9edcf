"""One open stream of one agent: what it has not got yet, first from the table, then as it is committed (decision 3)."""

from collections import deque
from collections.abc import Callable
from typing import Final, Protocol

from peerline.core.agent import Agent
from peerline.core.errors import PeerlineError
from peerline.core.ids import Millis
from peerline.core.message import Message
from peerline.core.trail import Observed
from peerline.database.later import Later
from peerline.hub.facts import Facts
from peerline.store.api import Hint, Store, Tx
from peerline.store.tables import messages as sql
from peerline.wire.json_body import encode
from peerline.wire.messages import LINES
from peerline.wire.sse import HEARTBEAT, frame, message_frame

PAGE = 16
OWN = ("reply", "cancelled", "expired")
_PUSHED: Final = Observed.PUSHED  # a constant: a look into the enumeration for each frame is spared
_FINAL_PUSHED: Final = Observed.FINAL_PUSHED
EARLY = 64


class Out(Protocol):
    def write(self, *pieces: bytes) -> None: ...

    @property
    def paused(self) -> bool: ...

    def close(self) -> None: ...


class Feed:
    """Writes frames to `out` without ever holding more than the transport's buffer.

    While it is not live it reads pages from the store; hints that come meanwhile are ignored, because the next page
    sees what they speak of. Once a page comes back short it is live, and committed messages are written as they are
    hinted. A paused transport ends that: when it can take more, the feed reads on from its two marks: the highest
    `seq` offered on this stream, and the newest own event written.
    """

    __slots__ = (
        "_closed",
        "_early",
        "_expire",
        "_facts",
        "_live",
        "_minimal",
        "_notes",
        "_out",
        "_owed_until",
        "_probe",
        "_reading",
        "_seq",
        "_store",
        "_where",
        "agent",
        "key",
        "presence_only",
        "token",
        "token_digest",
    )

    def __init__(
        self,
        agent: Agent,
        store: Store,
        facts: Facts,
        *,
        key: bytes,
        token_digest: bytes | None,
        resume_after: int | None = None,
        notes: bool = False,
        minimal: bool = False,
        presence_only: bool = False,
        expire: Callable[[Tx], None] = lambda tx: None,
        probe: Callable[[str], None] | None = None,
    ) -> None:
        """`key` and `token_digest` prove the caller; the feed ends when either is revoked. `minimal`: the agent's own
        events come without the request's text, which it has sent or heard itself."""
        self.agent, self.key, self.token_digest = agent, key, token_digest
        self.presence_only = presence_only
        self.token = resume_after or 0
        self._owed_until: int | None = None if resume_after is not None else -1
        self._store, self._facts, self._expire, self._probe = store, facts, expire, probe
        self._notes, self._minimal = notes, minimal
        self._where = f"by stream, {agent.host}" if agent.host else "by stream"
        self._seq = 0
        self._live = self._reading = self._closed = False
        self._early: deque[bytes] | None = deque(maxlen=EARLY)  # who came or went before the first frame
        self._out: Out | None = None

    def open(self, out: Out, ready: Callable[[], bytes]) -> None:
        """Begin: `ready` gives the data of the first frame once the first page is there."""
        self._out = out
        if self.presence_only:
            self._begin(out, ready)
            return

        def first(tx: Tx) -> tuple[int, int | None]:
            self._expire(tx)
            events = tx.counters.events(self.agent.id)
            if self._owed_until is None:
                return events, None
            told = tx.agents.got(self.agent.id)
            owed = _own(tx, self.agent, told, sql.OWED, most=1) if told < events else []
            return events, owed[0][0] if owed else None

        def begin(opened: Later[tuple[int, int | None]]) -> None:
            if self._closed:
                return
            try:
                events, oldest_owed = opened.result()
            except PeerlineError:
                out.close()  # the client comes back and asks the store again
                return
            except Exception:
                out.close()
                raise  # ours, not the store's answer: whoever settles it logs it
            if self._owed_until is None:
                self.token = min(self.token, events)  # a token from another store must not hide what is to come
            else:
                self._owed_until = events if oldest_owed is not None else None
                self.token = events if oldest_owed is None else oldest_owed - 1
            self._begin(out, ready)
            self._read()

        if self._owed_until is not None:
            self._facts.flush()  # what another stream or a read has told this agent is owed no more
        self._store.write(first).then(begin)

    def _begin(self, out: Out, ready: Callable[[], bytes]) -> None:
        """The first frame, whatever was to be told while it was made."""
        out.write(frame("ready", self.token, ready()))
        early, self._early = self._early or (), None
        for data in early:
            self.presence(data)

    def _read(self) -> None:
        if self._reading or self._closed:
            return
        self._live, self._reading = False, True
        agent, after, seq = self.agent, self.token, self._seq
        owed = self._owed_until is not None

        def page(tx: Tx) -> tuple[list[tuple[int, str, Message]], list[Message]]:
            own = _own(tx, agent, after, sql.OWED if owed else sql.OWN, most=PAGE)
            if len(own) == PAGE or owed:
                return own, []
            return own, tx.messages.list(sql.QUEUED_FOR, agent=agent.id, after=seq, most=PAGE)

        self._store.write(page).then(self._got_page)

    def _got_page(self, page: Later[tuple[list[tuple[int, str, Message]], list[Message]]]) -> None:
        self._reading = False
        out = self._out
        if self._closed or out is None:
            return
        try:
            own, queued = page.result()
        except PeerlineError:
            out.close()  # the client comes back and asks the store again
            return
        except Exception:
            out.close()
            raise  # ours, not the store's answer: whoever settles it logs it
        for number, kind, message in own:
            if out.paused:
                return
            self._write_own(number, kind, message)
        if self._owed_until is not None and len(own) < PAGE:
            self.token = max(self.token, self._owed_until)
            self._facts.caught_up(self.agent.id, self.token)
            self._owed_until = None
            self._read()
            return
        for message in queued:
            if out.paused:
                return
            self._write_message(message)
        if len(own) == PAGE or len(queued) == PAGE:
            self._read()
        else:
            self._live = True

    def resumed(self) -> None:
        """The transport can take more."""
        if not self._live and not self.presence_only:
            self._read()

    def hint(self, hint: Hint) -> None:
        """Something about this agent was committed."""
        if not self._live or self._closed:
            return
        out = self._out
        assert out is not None
        if out.paused:
            self._live = False
        elif hint.kind == "message":
            if hint.message.seq > self._seq:
                self._write_message(hint.message)
        elif hint.kind == "note":
            if self._notes:
                data = encode({"type": "note", "messageId": hint.message.id, "note": hint.detail})
                out.write(frame("note", self.token, data))
        else:
            sender = hint.message.sender == self.agent.id
            number = hint.message.sender_event if sender else hint.message.recipient_event
            if number is not None and number > self.token:
                self._write_own(number, hint.kind, hint.message)

    def _write_message(self, message: Message) -> None:
        assert self._out is not None
        if self._probe:
            self._probe("pushing")
        self._seq = message.seq
        self._out.write(*message_frame("message", self.token, LINES.pieces(message)))
        self._facts.observed(message.number, _PUSHED, self.agent.id, self._where)

    def _write_own(self, number: int, kind: str, message: Message) -> None:
        assert self._out is not None
        self.token = number
        pieces = LINES.outcome(message) if self._minimal else LINES.pieces(message)
        self._out.write(*message_frame(kind, number, pieces))
        self._facts.got(message.number, _FINAL_PUSHED, self.agent.id, number, self._where)

    @property
    def full(self) -> bool:
        """Whether the other side does not read what was written, so that nothing more is."""
        return self._out is not None and self._out.paused

    def presence(self, data: bytes) -> None:
        """Another agent of the project came or went; `data` is the frame's JSON. Not repeated when it is missed."""
        if self._early is not None:
            self._early.append(data)
        elif self._out is not None and not self._out.paused:
            self._out.write(frame("presence", self.token, data))

    def heartbeat(self) -> None:
        if self._out is not None and not self._out.paused:
            self._out.write(HEARTBEAT)

    def end(self) -> None:
        """Close the connection; the client may come back."""
        if self._out is not None:
            self._out.close()

    def closed(self) -> None:
        self._closed, self._live, self._out = True, False, None


def _own(tx: Tx, agent: Agent, after: Millis, which: str, *, most: int) -> list[tuple[int, str, Message]]:
    """The agent's own events above `after`, oldest first: replies and expiries it is told as sender, cancellations and
    expiries it hears as recipient."""
    return [
        (
            (message.sender_event if message.sender == agent.id else message.recipient_event) or 0,
            "reply" if message.status == "replied" else str(message.status),
            message,
        )
        for message in tx.messages.list(which, agent=agent.id, after=after, most=most)
    ]
