"""A text put together from pieces of another one, that still knows where each character came from."""

from bisect import bisect_right
from collections.abc import Callable


class Pieces:
    """Add pieces from left to right; `text` is what they make, `locate` leads from a place in it to the source."""

    def __init__(self) -> None:
        self._texts: list[str] = []
        self._starts: list[int] = []
        self._sources: list[int | Callable[[int], int]] = []
        self._length = 0

    def add(self, text: str, source: int | Callable[[int], int]) -> None:
        """`source`: where the piece stands in the source if it stands there as it is, else a function of the place."""
        if text:
            self._texts.append(text)
            self._starts.append(self._length)
            self._sources.append(source)
            self._length += len(text)

    def add_made(self, text: str, source: int) -> None:
        """Add a text that does not stand in the source; all of it is located at `source`."""
        self.add(text, lambda _: source)

    def text(self) -> str:
        return "".join(self._texts)

    def locate(self, place: int) -> int:
        at = bisect_right(self._starts, place) - 1
        source, within = self._sources[at], place - self._starts[at]
        return source + within if isinstance(source, int) else source(within)
