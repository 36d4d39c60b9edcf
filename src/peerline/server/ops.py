"""Routes for operators: a snapshot of a project and the stream that says when to look again (spec/hub.md 3.6)."""

from collections.abc import Callable

from peerline.core import limits
from peerline.core.errors import Invalid, TooManyStreams
from peerline.core.ids import Millis
from peerline.core.text import trim, utf16_length
from peerline.hub.overview import OpsFeed, Overview
from peerline.hub.wakeups import Wakeups
from peerline.server.events import Wheel
from peerline.server.exchange import Answer
from peerline.server.query import members
from peerline.server.refusals import json_answer
from peerline.server.routes import Call, Proof, Route
from peerline.server.stream import Sink, Stream
from peerline.wire.sse import HEADERS

STREAMS = 64


class OpsStream(Stream):
    __slots__ = ("_feed", "_sink", "_wakeups", "_wheel")

    def __init__(self, feed: OpsFeed, wakeups: Wakeups, wheel: Wheel) -> None:
        super().__init__(HEADERS)
        self._feed, self._wakeups, self._wheel = feed, wakeups, wheel
        self._sink: Sink | None = None

    def opened(self, sink: Sink) -> None:
        self._sink = sink
        self._wakeups.watchers.add(self._feed)
        self._wheel.add(self._feed)
        self._feed.open(self._write)

    def _write(self, data: bytes) -> None:
        if self._sink is not None and not self._sink.paused:  # what is missed is only "look again"
            self._sink.write(data)

    def resumed(self) -> None:
        pass

    def closed(self) -> None:
        self._sink = None
        self._wakeups.watchers.discard(self._feed)
        self._wheel.discard(self._feed)
        self._feed.closed()


class OpsRoutes:
    def __init__(self, overview: Overview, wakeups: Wakeups, wheel: Wheel, now: Callable[[], Millis]) -> None:
        self._overview, self._wakeups, self._wheel, self._now = overview, wakeups, wheel, now

    def routes(self) -> list[Route]:
        admin = Proof.ADMIN_CONFIGURED
        return [
            Route("GET", "/v1/ops/snapshot", admin, self.snapshot, None, "A project at a glance.", query=("project",)),
            Route("GET", "/v1/ops/events", admin, self.events, None, "When to look again.", query=("project",)),
        ]

    def snapshot(self, call: Call) -> Answer:
        return self._overview.snapshot(_project(call)).map(json_answer)

    def events(self, call: Call) -> Answer:
        project = _project(call)
        if len(self._wakeups.watchers) >= STREAMS:
            raise TooManyStreams(f"{STREAMS} operators' streams are open", nextAction="close_a_stream")
        return OpsStream(OpsFeed(project, self._now), self._wakeups, self._wheel)


def _project(call: Call) -> str:
    project = trim(members(call.request).get("project", ""))
    if not project:
        raise Invalid("project is required")
    if utf16_length(project) > limits.PROJECT:
        raise Invalid(f"project exceeds {limits.PROJECT} characters")
    return project
