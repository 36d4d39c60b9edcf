"""The client's end of the conversation: lines in, lines out, each on a thread that may block without stopping us.

Whatever the descriptors are (pipes, files, terminals), threads can read and write them; the loop could not.
"""

import asyncio
import os
import queue
import threading
from collections.abc import Callable
from typing import Final

from peerline.mcp_stdio.greeting import CHUNK, write

FLUSH_S: Final = 1.0


class Reader:
    """Hands each chunk to `got` in the loop, and b"" at the end."""

    def __init__(self, descriptor: int, got: Callable[[bytes], None]) -> None:
        self._descriptor, self._got = descriptor, got
        self._loop = asyncio.get_running_loop()
        threading.Thread(target=self._run, daemon=True).start()

    def _run(self) -> None:
        chunk = b"-"
        while chunk:
            try:
                chunk = os.read(self._descriptor, CHUNK)
            except OSError:
                chunk = b""
            try:
                self._loop.call_soon_threadsafe(self._got, chunk)
            except RuntimeError:
                return  # the loop has ended


class Writer:
    """Writes in order; `broken` is called in the loop when nobody reads any more."""

    def __init__(self, descriptor: int, broken: Callable[[], None]) -> None:
        self._descriptor, self._broken = descriptor, broken
        self._loop = asyncio.get_running_loop()
        self._lines: queue.SimpleQueue[bytes | None] = queue.SimpleQueue()
        self._failed = False
        self._thread = threading.Thread(target=self._run, daemon=True)
        self._thread.start()

    def put(self, line: bytes) -> None:
        """Raises: OSError: nobody reads any more."""
        if self._failed:
            raise BrokenPipeError("the client does not read any more")
        self._lines.put(line)

    def close(self) -> None:
        """Write what is left, for a moment at most."""
        self._lines.put(None)
        self._thread.join(FLUSH_S)

    def _run(self) -> None:
        while (line := self._lines.get()) is not None:
            try:
                write(self._descriptor, line)
            except OSError:
                self._failed = True
                try:
                    self._loop.call_soon_threadsafe(self._broken)
                except RuntimeError:
                    pass
                return
