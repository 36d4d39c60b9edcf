"""JSON lines of a harness: split at LF alone, and of one that is too long only what kind of line it was."""

import re
from typing import Any, Final

import msgspec

FRAME_BYTES: Final = 4 * 1024 * 1024
SCANNED: Final = 64 * 1024
_FIELD: Final = re.compile(rb'"(type|toolCallId|id|toolName)"\s*:\s*"([^"\\]{1,200})"')
OVERSIZED: Final = "oversized"


class Frames:
    """Chunks in, objects out; what is no JSON object is passed over. `oversized` counts lines above the bound."""

    def __init__(self, at_most: int = FRAME_BYTES) -> None:
        self._at_most = at_most
        self._line = bytearray()
        self._head: bytes | None = None  # of a line that is too long to keep
        self.oversized = 0

    def feed(self, chunk: bytes) -> list[dict[str, Any]]:
        frames: list[dict[str, Any]] = []
        *whole, rest = chunk.split(b"\n")
        for piece in whole:
            self._more(piece)
            if (frame := self._end()) is not None:
                frames.append(frame)
        self._more(rest)
        return frames

    def _more(self, piece: bytes) -> None:
        if self._head is not None:
            return
        self._line += piece
        if len(self._line) > self._at_most:
            self._head = bytes(self._line[:SCANNED])
            self._line.clear()
            self.oversized += 1

    def _end(self) -> dict[str, Any] | None:
        if self._head is not None:
            frame = _scanned(self._head)
            self._head = None
            return frame
        line = bytes(self._line)
        self._line.clear()
        try:
            value = msgspec.json.decode(line)
        except (msgspec.DecodeError, UnicodeDecodeError):
            return None
        return value if isinstance(value, dict) else None


def _scanned(head: bytes) -> dict[str, Any]:
    """The first of each name: enough to know which tool ended, never a text."""
    found: dict[str, Any] = {OVERSIZED: True}
    for name, value in _FIELD.findall(head):
        found.setdefault(name.decode(), value.decode("utf-8", "replace"))
    return found
