"""Faults of our own, on their way into the log: where they happened, never what was being handled."""

import logging
import traceback
from collections.abc import Callable
from typing import Final

NAMES: Final = ("peerline", "asyncio")
FRAMES: Final = 4


def where(error: BaseException) -> str:
    """The innermost frames. The error's own text is left out: it may quote a message or a token."""
    frames = traceback.extract_tb(error.__traceback__)[-FRAMES:]
    return " < ".join(
        f"{frame.filename.rpartition('peerline/')[2]}:{frame.lineno} {frame.name}" for frame in frames[::-1]
    )


class Faults(logging.Handler):
    """Takes what the library's modules log about themselves; `tell` gets the error, or None, and its fixed text."""

    def __init__(self, tell: Callable[[BaseException | None, str], None]) -> None:
        super().__init__(logging.WARNING)
        self._tell = tell

    def emit(self, record: logging.LogRecord) -> None:
        error = record.exc_info[1] if record.exc_info else None
        self._tell(error, str(record.msg))  # unformatted: its arguments may be foreign

    def __enter__(self) -> None:
        for name in NAMES:
            logger = logging.getLogger(name)
            logger.addHandler(self)
            logger.propagate = False

    def __exit__(self, *_: object) -> None:
        for name in NAMES:
            logger = logging.getLogger(name)
            logger.removeHandler(self)
            logger.propagate = True
