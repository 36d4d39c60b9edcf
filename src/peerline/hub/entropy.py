"""Random bytes for ids and keys, drawn from the system in larger pieces: a call for each would cost the most."""

from peerline.core.ids import Entropy

DRAWN = 8_192


class Pool:
    """Hands out each byte of the source once."""

    def __init__(self, source: Entropy) -> None:
        self._source = source
        self._bytes = b""
        self._at = 0

    def __call__(self, count: int) -> bytes:
        start = self._at
        end = self._at = start + count
        if end > len(self._bytes):
            self._bytes, start, end = self._source(max(DRAWN, count)), 0, count
            self._at = end
        return self._bytes[start:end]
