"""Which model the harness is started with: the first, until its provider fails; then the next one, and never back."""

from typing import Final

from peerline.core.ids import Millis

NEXT_AFTER: Final[Millis] = 1_000


class Models:
    """`names` may be empty: the harness's own choice. `retry` is the pause once none is left."""

    def __init__(self, names: tuple[str, ...], retry: Millis) -> None:
        self._names, self._retry = names, retry
        self._at = 0

    @property
    def current(self) -> str | None:
        return self._names[self._at] if self._names else None

    def failed(self) -> Millis:
        """The provider failed: go on to the next model, if there is one; the pause before the next start."""
        if self._at + 1 < len(self._names):
            self._at += 1
            return NEXT_AFTER
        return self._retry
