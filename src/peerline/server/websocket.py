"""A WebSocket on one of our connections: frames by the `websockets` library, bytes by the connection's own half."""

from collections.abc import Callable

from websockets.datastructures import Headers
from websockets.exceptions import ConnectionClosed
from websockets.frames import CloseCode
from websockets.http11 import Request as Upgrade
from websockets.protocol import State
from websockets.server import ServerProtocol

from peerline.core.errors import InvalidRequest
from peerline.server.exchange import Request
from peerline.server.stream import Sink, Stream

MESSAGE_BYTES = 4_096  # nobody has to say anything here
DROPPED = ("connection", "date", "server")


class WebSocket(Stream):
    """Text out, as far as the peer takes it; what comes in is only answered where the protocol asks for it."""

    __slots__ = ("_on_closed", "_on_opened", "_on_resumed", "_protocol", "_sink")

    def __init__(
        self,
        request: Request,
        *,
        on_opened: Callable[[], None],
        on_resumed: Callable[[], None],
        on_closed: Callable[[], None],
    ) -> None:
        """Accept what `request` asks for.

        Raises:
            InvalidRequest: it is no opening handshake of RFC 6455.
        """
        self._protocol = ServerProtocol(max_size=MESSAGE_BYTES)
        headers = Headers()
        for name, value in request.headers.items():
            headers[name] = value
        headers["connection"] = "Upgrade"  # the parser took it off
        # It is handed the request as bytes: its parser reads frames only after a handshake that it has read itself.
        self._protocol.receive_data(Upgrade(request.path, headers).serialize())
        asked = self._protocol.events_received()
        answer = self._protocol.accept(asked[0]) if asked and isinstance(asked[0], Upgrade) else None
        if answer is None or answer.status_code != 101:
            raise InvalidRequest("this is no opening handshake of a WebSocket")
        self._protocol.send_response(answer)
        self._protocol.data_to_send()  # the head, which the connection writes itself
        kept = [(name.lower(), value) for name, value in answer.headers.raw_items() if name.lower() not in DROPPED]
        super().__init__(tuple(kept), status=101)
        self._on_opened, self._on_resumed, self._on_closed = on_opened, on_resumed, on_closed
        self._sink: Sink | None = None

    @property
    def ready(self) -> bool:
        """Whether a text would leave now."""
        return self._sink is not None and not self._sink.paused and self._protocol.state is State.OPEN

    def send(self, text: str) -> None:
        if self.ready:
            self._protocol.send_text(text.encode())
            self._flush()

    def ping(self) -> None:
        if self.ready:
            self._protocol.send_ping(b"")
            self._flush()

    def end(self) -> None:
        if self._protocol.state is State.OPEN:
            self._protocol.send_close(CloseCode.GOING_AWAY)
        self._flush()
        if self._sink is not None:
            self._sink.close()

    def received(self, data: bytes) -> None:
        try:
            self._protocol.receive_data(data)
        except (ConnectionClosed, EOFError):
            pass
        self._protocol.events_received()
        self._flush()
        if self._protocol.state is not State.OPEN and self._sink is not None:
            self._sink.close()

    def opened(self, sink: Sink) -> None:
        self._sink = sink
        self._on_opened()

    def resumed(self) -> None:
        self._on_resumed()

    def closed(self) -> None:
        self._sink = None
        self._on_closed()

    def _flush(self) -> None:
        for data in self._protocol.data_to_send():
            if data and self._sink is not None:
                self._sink.write(data)
