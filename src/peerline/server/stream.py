"""An answer without an end, and the connection below it. Never compiled: whoever has one to give extends `Stream`."""

from abc import abstractmethod
from dataclasses import dataclass
from typing import Protocol


class Sink(Protocol):
    """The open connection below a stream."""

    def write(self, *pieces: bytes) -> None:
        """Hand bytes to the transport; they may wait in its buffer."""

    @property
    def paused(self) -> bool:
        """True while the transport's buffer is above its high-water mark: write no more until `Stream.resumed`."""

    def close(self) -> None:
        """End the connection; `Stream.closed` follows."""


@dataclass(slots=True)
class Stream:
    """A body without an end. The caller writes status and headers (no length, `connection: keep-alive`, body until
    close), then calls `opened(sink)` once, `resumed()` each time the sink can take more again, `closed()` once when
    the connection is gone; if the caller left before it was opened, `closed()` alone.

    mypy sees to the three. No `ABC`: each request asks once whether its answer is a stream, and would pay for it.

    One of status 101 has changed the protocol: it is told the bytes that come, too."""

    headers: tuple[tuple[str, str], ...] = ()
    lines: str = ""
    status: int = 200

    def received(self, data: bytes) -> None:
        """Bytes came on the open connection: of an ordinary stream's caller nothing is expected."""

    @abstractmethod
    def opened(self, sink: Sink) -> None:
        """Its head was written; `sink` takes the rest."""

    @abstractmethod
    def resumed(self) -> None:
        """The sink can take more again."""

    @abstractmethod
    def closed(self) -> None:
        """Nobody is there any more."""
