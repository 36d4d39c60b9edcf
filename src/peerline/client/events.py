"""The push stream read piece by piece: bytes → frames → events. Pure; the connection is `client.stream`'s."""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Final, TypeVar

import msgspec

from peerline.client.records import Agent, Message, Note
from peerline.client.refusals import InvalidAnswer

FRAME_BYTES: Final = 4 * 1024 * 1024

T = TypeVar("T")


@dataclass(frozen=True, slots=True, kw_only=True)
class Frame:
    """One event of a `text/event-stream`; `id` is the last one seen so far on the stream, or None."""

    event: str
    data: str
    id: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """Something that happened to the agent.

    `type` is message, reply, cancelled, expired, note or presence, and may be one that this version does not know;
    `data` is the whole frame. `resume` is the token to start a later stream from.
    """

    type: str
    data: dict[str, Any]
    resume: str | None = None
    message: Message | None = None
    agent: Agent | None = None
    note: Note | None = None

    @property
    def message_id(self) -> str | None:
        """The message it is about; a note carries only this."""
        named = self.message.id if self.message is not None else self.data.get("messageId")
        return named if isinstance(named, str) else None


class Decoder:
    """An incremental decoder: chunks may end anywhere, inside a character or between CR and LF."""

    def __init__(self, last_id: str | None = None) -> None:
        self.last_id = last_id
        self.retry_ms: int | None = None
        self._buffer = bytearray()
        self._scanned = 0
        self._feed_may_follow = False
        self._started = False
        self._event = ""
        self._data: list[str] = []
        self._held = 0

    def feed(self, chunk: bytes) -> Iterator[Frame]:
        """The frames that `chunk` completes.

        Raises:
            InvalidAnswer: a frame is larger than any hub sends.
        """
        self._buffer += chunk
        while (line := self._line()) is not None:
            frame = self._take(line)
            if frame is not None:
                yield frame
        if len(self._buffer) + self._held > FRAME_BYTES:
            raise InvalidAnswer(f"the event stream sent a frame of more than {FRAME_BYTES} bytes")

    def _line(self) -> bytes | None:
        """The next whole line, ended by LF, CR or both; the LF of a split pair is dropped when it comes."""
        buffer = self._buffer
        if self._feed_may_follow and buffer:
            self._feed_may_follow = False
            if buffer[0] == 0x0A:
                del buffer[:1]
        ends = [place for place in (buffer.find(b"\n", self._scanned), buffer.find(b"\r", self._scanned)) if place >= 0]
        if not ends:
            self._scanned = len(buffer)
            return None
        end = min(ends)
        line = bytes(buffer[:end])
        self._feed_may_follow = buffer[end] == 0x0D
        del buffer[: end + 1]
        self._scanned = 0
        return line

    def _take(self, line: bytes) -> Frame | None:
        text = line.decode("utf-8", "replace")
        if not self._started:
            self._started = True
            text = text.removeprefix("\ufeff")
        if not text:
            return self._dispatch()
        name, _, value = text.partition(":")
        value = value.removeprefix(" ")
        if name == "event":
            self._event = value
        elif name == "data":
            self._data.append(value)
            self._held += len(line)
        elif name == "id" and "\0" not in value:
            self.last_id = value
        elif name == "retry" and value.isascii() and value.isdigit():
            self.retry_ms = int(value[:9])
        return None

    def _dispatch(self) -> Frame | None:
        event, data = self._event, self._data
        self._event, self._data, self._held = "", [], 0
        if not data:
            return None
        return Frame(event=event or "message", data="\n".join(data), id=self.last_id)


def event(frame: Frame) -> Event | None:
    """The event a frame tells of; None for `ready` and for what is no event of the contract (no JSON, no `type`)."""
    try:
        data = msgspec.json.decode(frame.data)
    except (msgspec.DecodeError, ValueError):
        return None
    if not isinstance(data, dict) or not isinstance(data.get("type"), str):
        return None
    try:
        return Event(
            type=data["type"],
            data=data,
            resume=frame.id,
            message=_record(data, "message", Message),
            agent=_record(data, "agent", Agent),
            note=_record(data, "note", Note),
        )
    except msgspec.ValidationError as error:
        raise InvalidAnswer(f"the hub sent an event this client cannot read: {error}") from None


def _record(data: dict[str, Any], name: str, kind: type[T]) -> T | None:
    return msgspec.convert(data[name], kind) if data.get(name) is not None else None
