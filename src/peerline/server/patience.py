"""One connection's time: what is due when, and how it ends when a peer is silent, slow, or takes nothing."""

import asyncio
from collections.abc import Callable
from typing import Final

from peerline.server.deadlines import NEVER, Deadlines, Wheel
from peerline.server.exchange import Application
from peerline.server.heads import Heads

STALL_LOOKS: Final = 5  # how often, within the stall deadline, a peer that takes nothing is looked at

# Phases of the request side; each index finds its limit in `Shared.limits`. `began` is when the phase's clock started.
FRESH, IDLE, HEAD, BODY = range(4)


class Shared:
    """What all connections of one server share."""

    __slots__ = ("app", "body_bytes", "connections", "deadlines", "emptied", "heads", "limits", "wheel")

    def __init__(self, app: Application, deadlines: Deadlines, wheel: Wheel, body_bytes: int) -> None:
        self.app = app
        self.body_bytes = body_bytes
        self.heads = {unix: Heads(body_bytes) for unix in (False, True)}  # the guard asks more of TCP
        self.deadlines = deadlines
        self.wheel = wheel
        # The wheel looks once a second: a second less than promised, so that no promise is broken by a late look.
        head, idle, body = (
            limit - min(1, limit / 2) for limit in (deadlines.head_s, deadlines.idle_s, deadlines.body_s)
        )
        self.limits = (head, idle, head, body)
        self.connections: set[Patience] = set()
        self.emptied: Callable[[], None] | None = None


class Patience(asyncio.Protocol):
    """`ended`: no further request is taken. `phase` and `began` are kept by the halves that read and write."""

    __slots__ = (
        "_backlog",
        "_due",
        "_moved",
        "armed",
        "began",
        "closing",
        "ended",
        "paused",
        "phase",
        "shared",
        "transport",
    )

    def __init__(self, shared: Shared) -> None:
        self.shared = shared
        self.transport: asyncio.Transport | None = None
        self.phase = FRESH
        self.began = shared.wheel.now
        self._due: float = NEVER
        self.armed: float = NEVER
        self.ended = False
        self.paused = False
        self.closing = False
        self._backlog = 0
        self._moved = 0.0

    @property
    def due(self) -> float:
        """When the wheel is to call `expire`, worked out when it looks: most deadlines have moved on by then."""
        return self._due

    def due_at(self, due: float) -> None:
        self._due = due
        if due < self.armed:
            self.shared.wheel.arm(self)

    def pause_writing(self) -> None:
        self.paused = True
        if self.transport is not None:
            self._backlog = self.transport.get_write_buffer_size()
        self._moved = self.shared.wheel.now
        self.due_at(self._moved + self.shared.deadlines.stall_s / STALL_LOOKS)

    def expire(self) -> None:
        if self.transport is None:
            return
        if self.paused:
            self._look_for_progress(self.transport.get_write_buffer_size())
        elif self.closing:
            self.abort()
        elif self.phase in (HEAD, BODY):
            self.overdue()
        else:
            self.finish()

    def _look_for_progress(self, waiting: int) -> None:
        now, stall_s = self.shared.wheel.now, self.shared.deadlines.stall_s
        step = stall_s / STALL_LOOKS
        if waiting < self._backlog:
            self._moved = now
        elif now - self._moved >= stall_s - step:
            self.abort()
            return
        self._backlog = waiting
        self.due_at(now + step)

    def overdue(self) -> None:
        """A request was not received in time."""

    def finish(self, *, linger: bool = False) -> None:
        """Close once what was written has left. With `linger` the peer may go on sending for a moment, unread:
        closing at once would reset the connection and could take the refusal away from under its reader."""
        if self.closing or self.transport is None:
            return
        self.closing = self.ended = True
        if linger and self.transport.can_write_eof():
            self.transport.write_eof()
            self.due_at(self.shared.wheel.now + self.shared.deadlines.linger_s)
        else:
            self.transport.close()
            self.due_at(self.shared.wheel.now + self.shared.deadlines.stall_s)

    def abort(self) -> None:
        self.closing = self.ended = True
        if self.transport is not None:
            self.transport.abort()

    def shutdown(self) -> None:
        """The hub stops."""
