"""What leaves a connection: answers in the order of their requests, or one stream; never more than the peer takes."""

import asyncio
import logging
from collections import deque
from typing import Final, cast

from peerline.core.limits import STREAM_BUFFER_BYTES
from peerline.database.later import Later
from peerline.server.deadlines import NEVER
from peerline.server.encoding import encode_response, encode_stream_head
from peerline.server.exchange import Answer, Peer, Response
from peerline.server.patience import IDLE, Patience, Shared
from peerline.server.peers import peer_of, ready_for_stream
from peerline.server.stream import Stream

logger = logging.getLogger(__name__)

STREAM_HIGH_WATER: Final = 65_536
STREAM_KERNEL_BYTES: Final = 131_072
JOINED_BYTES: Final = 8_192


class Slot:
    """The place in the queue of an answer that is not written yet; `connection` is None once that is gone."""

    __slots__ = ("answer", "bodiless", "close", "connection", "linger")

    def __init__(self, connection: "Outbound", bodiless: bool, close: bool, linger: bool = False) -> None:
        self.answer: Response | Stream | bytes | None = None
        self.bodiless = bodiless
        self.close = close
        self.connection: Outbound | None = connection
        self.linger = linger

    def settled(self, later: "Later[Response] | Later[Response | Stream]") -> None:
        connection = self.connection
        if connection is None:
            _drop(later)
            return
        if later.error is None:
            self.answer = later.value
        else:
            logger.error("a pending answer failed", exc_info=later.error)
            self.answer = connection.failed()
        connection.advance()


def write_pieces(transport: asyncio.Transport, pieces: tuple[bytes, ...]) -> None:
    """Small pieces are joined, which costs less than handing over each; larger ones are not copied."""
    for piece in pieces:
        if len(piece) > JOINED_BYTES:
            transport.writelines(pieces)
            return
    transport.write(b"".join(pieces))


def _drop(later: "Later[Response] | Later[Response | Stream]") -> None:
    try:
        result = later.result()
    except Exception:
        logger.exception("a pending answer failed after its caller had gone")
        return
    if isinstance(result, Stream):
        result.closed()


class Outbound(Patience):
    """The writing half. `halved`: the peer has shut its sending side. `reading`: what it sends is looked at.

    What is written in one turn of the loop leaves together: uvloop keeps it until the turn ends.
    """

    __slots__ = ("_queue", "_stream", "halved", "peer", "reading")

    def __init__(self, shared: Shared) -> None:
        super().__init__(shared)
        self.peer: Peer | None = None
        self.halved = False
        self.reading = True
        self._queue: deque[Slot] | None = None
        self._stream: Stream | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast(asyncio.Transport, transport)  # uvloop's is none by inheritance
        self.peer = peer_of(transport)
        self.shared.connections.add(self)
        self.watch()

    def connection_lost(self, error: Exception | None) -> None:
        self.ended = True
        self.transport = None
        shared = self.shared
        shared.wheel.forget(self)
        shared.connections.discard(self)
        self._abandon()
        stream, self._stream = self._stream, None
        if stream is not None:
            stream.closed()
        if not shared.connections and shared.emptied is not None:
            shared.emptied()

    # Answers

    def put(self, answer: Answer, *, bodiless: bool, close: bool) -> None:
        """Queue the answer of the request read last; write it now if nothing is before it."""
        if type(answer) is Response and not self._queue:
            self._send(answer, bodiless, close, False)
            return
        slot = Slot(self, bodiless, close)
        if not isinstance(answer, Later):
            self._put_known(slot, answer)
            return
        if self._queue is None:
            self._queue = deque()
        self._queue.append(slot)
        answer.then(slot.settled)

    def put_last(self, response: Response) -> None:
        """Queue a refusal after which nothing is read any more."""
        self.ended = True
        self._put_known(Slot(self, False, close=True, linger=True), response)

    def put_bytes(self, data: bytes) -> None:
        self._put_known(Slot(self, False, close=False), data)

    def _put_known(self, slot: Slot, answer: Response | Stream | bytes) -> None:
        slot.answer = answer
        if self._queue is None:
            self._queue = deque()
        self._queue.append(slot)
        self.advance()

    @property
    def pending(self) -> int:
        return len(self._queue) if self._queue else 0

    def advance(self) -> None:
        """Write what is at the head of the queue and known."""
        queue = self._queue
        while queue and (answer := queue[0].answer) is not None:
            slot = queue.popleft()
            if isinstance(answer, Response):
                self._send(answer, slot.bodiless, slot.close, slot.linger)
            elif isinstance(answer, Stream):
                self._open(answer, slot.bodiless)
            elif self.transport is not None and not self.closing:
                self.transport.write(answer)
            queue = self._queue  # a stream or a last answer takes it away below us
        if self._stream is None:
            if self.ended and not queue and not self.closing:
                self.finish()
            if self.armed == NEVER:
                self.watch()
            if not self.reading:
                self.drained()

    def drained(self) -> None:
        """Nothing was read, and the queue is shorter than it was, or the transport takes bytes again."""

    def failed(self) -> Response:
        assert self.peer is not None
        return self.shared.app.refuse(500, "internal_error", "internal server error", self.peer)

    def _send(self, response: Response, bodiless: bool, close: bool, linger: bool) -> None:
        close = close or response.close
        try:
            pieces = encode_response(response, bodiless, close)
        except ValueError:
            logger.exception("an answer could not be written")
            pieces = encode_response(self.failed(), bodiless, close)
        if self.transport is not None and not self.closing:
            write_pieces(self.transport, pieces)
        if self.phase <= IDLE:
            self.began = self.shared.wheel.now
        if close:
            self.ended = True
            self._abandon()
            self.finish(linger=linger)

    def _abandon(self) -> None:
        """Nobody will read what is still queued."""
        queue, self._queue = self._queue, None
        for slot in queue or ():
            slot.connection = None
            if isinstance(slot.answer, Stream):
                slot.answer.closed()

    # Streams; the connection is the stream's Sink

    def _open(self, stream: Stream, bodiless: bool) -> None:
        self.ended = True
        self._abandon()
        if self.transport is None or self.closing or self.halved:
            stream.closed()  # nobody is there to read it
            self.finish()
            return
        self.transport.write(encode_stream_head(stream.headers, stream.lines, stream.status))
        if bodiless:
            stream.closed()
            self.finish()
            return
        self._stream = stream
        self.transport.set_write_buffer_limits(high=STREAM_HIGH_WATER)
        ready_for_stream(self.transport, STREAM_KERNEL_BYTES, self.shared.deadlines.stall_s)
        self.shared.wheel.forget(self)
        self._due = NEVER
        self.lighten()
        try:
            stream.opened(self)
        except Exception:
            logger.exception("a stream could not be opened")
            self.abort()

    def lighten(self) -> None:
        """Let go of everything only requests need: thousands of streams stay open for days."""
        self.peer = None

    def write(self, *pieces: bytes) -> None:
        transport = self.transport
        if transport is None or self.closing:
            return
        write_pieces(transport, pieces)
        if self.paused and transport.get_write_buffer_size() > STREAM_BUFFER_BYTES:
            self.abort()

    def close(self) -> None:
        self.finish()

    # Back-pressure and time

    def resume_writing(self) -> None:
        self.paused = False
        if self.closing:
            return
        self._due = NEVER
        if self._stream is not None:
            self._stream.resumed()
        else:
            self.watch()
            self.drained()

    @property
    def due(self) -> float:
        """What the present state asks for; a peer that takes nothing has a deadline of its own."""
        if self.closing or self.paused or self._stream is not None:
            return self._due
        if self._queue and self.phase <= IDLE:
            return NEVER  # the next move is ours, and takes as long as it takes
        return self.began + self.shared.limits[self.phase]

    def watch(self) -> None:
        """To be called when the deadline may have come nearer, and when the wheel has let go of this connection."""
        if self.due < self.armed:
            self.shared.wheel.arm(self)

    def shutdown(self) -> None:
        """Take no more requests; close once every pending answer is written. A stream is closed now."""
        if self._stream is not None:
            self.finish()
            return
        self.ended = True
        if not self._queue:
            self.finish()
