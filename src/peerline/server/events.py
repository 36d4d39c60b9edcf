"""The push stream as a route, and the one wheel that beats for all streams (spec/hub.md 3.9)."""

from collections.abc import Callable
from typing import Protocol

from peerline.core import limits
from peerline.core.errors import Invalid, PresenceStreamForbidden, TooManyStreams
from peerline.hub.agents import Agents
from peerline.hub.clock import HubClock
from peerline.hub.facts import Facts
from peerline.hub.feeds import Feed
from peerline.hub.messages import expire_for
from peerline.hub.wakeups import Wakeups
from peerline.server.auth import Auth
from peerline.server.exchange import Answer
from peerline.server.preferences import APPLIED, minimal
from peerline.server.query import members, truth
from peerline.server.routes import Call, Proof, Route
from peerline.server.stream import Sink, Stream
from peerline.store.api import Store
from peerline.wire.json_body import encode
from peerline.wire.sse import HEADERS

TURNS_A_SECOND = 10
TURNS = limits.STREAM_HEARTBEAT_MS * TURNS_A_SECOND // 1000


class Beating(Protocol):
    def heartbeat(self) -> None: ...


class Wheel:
    """A bucket for each turn: a stream gets its heartbeat every 15 s without a timer of its own, and no turn is so long
    that those at work would feel it."""

    def __init__(self) -> None:
        self._buckets: list[set[Beating]] = [set() for _ in range(TURNS)]
        self._now = 0
        self._bucket_of: dict[Beating, int] = {}

    def add(self, feed: Beating) -> None:
        self._bucket_of[feed] = self._now
        self._buckets[self._now].add(feed)

    def discard(self, feed: Beating) -> None:
        bucket = self._bucket_of.pop(feed, None)
        if bucket is not None:
            self._buckets[bucket].discard(feed)

    def turn(self) -> None:
        """A tenth of a second on."""
        self._now = (self._now + 1) % TURNS
        for feed in list(self._buckets[self._now]):
            feed.heartbeat()


class EventStream(Stream):
    __slots__ = ("_feed", "_ready", "_wakeups", "_wheel")

    def __init__(self, feed: Feed, wakeups: Wakeups, wheel: Wheel, ready: Callable[[], bytes]) -> None:
        super().__init__(HEADERS)
        self._feed, self._wakeups, self._wheel, self._ready = feed, wakeups, wheel, ready

    def opened(self, sink: Sink) -> None:
        self._wakeups.add(self._feed)  # listening begins before the first look
        self._wheel.add(self._feed)
        self._feed.open(sink, self._ready)

    def resumed(self) -> None:
        self._feed.resumed()

    def closed(self) -> None:
        self._wakeups.discard(self._feed)
        self._wheel.discard(self._feed)
        self._feed.closed()


class EventRoutes:
    def __init__(
        self,
        store: Store,
        agents: Agents,
        wakeups: Wakeups,
        facts: Facts,
        auth: Auth,
        clock: HubClock,
        wheel: Wheel,
        probe: Callable[[str], None] | None = None,
    ) -> None:
        self._store, self._agents, self._wakeups, self._facts = store, agents, wakeups, facts
        self._auth, self._clock, self._wheel, self._probe = auth, clock, wheel, probe

    def routes(self) -> list[Route]:
        query = ("agentId", "notes", "presenceOnly")
        return [Route("GET", "/v1/events", Proof.SELF, self.stream, None, "The caller's push stream.", query=query)]

    def stream(self, call: Call) -> Answer:
        query = members(call.request)
        agent_id = query.get("agentId", "").strip()
        if not agent_id:
            raise Invalid("agentId is required")
        if len(agent_id) > limits.ID:
            raise Invalid(f"agentId exceeds {limits.ID} characters")
        caller = self._auth.agent(call.request, agent_id)
        agent = caller.agent
        presence_only = truth(query.get("presenceOnly"))
        if presence_only and agent.model != "tui":
            raise PresenceStreamForbidden("presence-only streams are for agents of model tui")
        if len(self._wakeups.feeds(agent.id)) >= limits.STREAMS_PER_AGENT:
            raise TooManyStreams(f"an agent may have {limits.STREAMS_PER_AGENT} streams", nextAction="close_a_stream")
        self._agents.heard(caller.proven)
        now = self._clock.now()
        feed = Feed(
            agent,
            self._store,
            self._facts,
            key=caller.key,
            token_digest=caller.token,
            resume_after=_resume(call.request.headers.get("last-event-id")),
            notes=truth(query.get("notes")),
            minimal=minimal(call.request),
            presence_only=presence_only,
            expire=lambda tx: expire_for(tx, agent.id, now),
            probe=self._probe,
        )
        stream = EventStream(feed, self._wakeups, self._wheel, lambda: encode({"agent": self._agents.record(agent.id)}))
        if presence_only:
            stream.headers += (("x-kxm-events-mode", "presence"),)
        elif minimal(call.request):
            stream.headers += (APPLIED,)
        return stream


def _resume(token: str | None) -> int | None:
    """The resume token; one that is not ours counts as none, so that nothing is left out."""
    if token is None or not (token.isascii() and token.isdigit() and len(token) < 19):
        return None
    return int(token)
