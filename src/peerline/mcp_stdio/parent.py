"""Notices that the process that started us is gone: a session's server must not outlive its session."""

import asyncio
import os
from collections.abc import Callable
from typing import Final

LOOK_S: Final = 1.0


class ParentWatch:
    """Calls `gone` once, in the loop. Where the system can tell, at once; elsewhere within a second."""

    def __init__(self, gone: Callable[[], None]) -> None:
        self._gone = gone
        self._loop = asyncio.get_running_loop()
        self._parent = os.getppid()
        self._descriptor: int | None = None
        self._timer: asyncio.TimerHandle | None = None
        try:
            self._descriptor = os.pidfd_open(self._parent)  # type: ignore[attr-defined,unused-ignore]
        except (OSError, AttributeError):
            pass
        if self._descriptor is not None and os.getppid() == self._parent:
            self._loop.add_reader(self._descriptor, self._end)
        else:
            self._look()

    def close(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
        if self._descriptor is not None:
            self._loop.remove_reader(self._descriptor)
            os.close(self._descriptor)
            self._descriptor = None

    def _look(self) -> None:
        if os.getppid() != self._parent:
            self._end()
        else:
            self._timer = self._loop.call_later(LOOK_S, self._look)

    def _end(self) -> None:
        self.close()
        self._gone()
