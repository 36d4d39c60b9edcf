"""`/v1/watch`: a WebSocket that gets the lines of `kxm watch`, for a monitor that can be given only a URL.

`POST /v1/watch/tickets` gives an agent that URL: its ticket lets one WebSocket in, once, within a minute.
"""

import asyncio
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

from peerline.core import limits
from peerline.core.agent import Agent
from peerline.core.announcement import LISTED, lines, reply_line, request_line
from peerline.core.errors import TooManyStreams, Unproven, UpgradeRequired
from peerline.core.ids import AgentId, MessageId
from peerline.core.message import Message
from peerline.core.pace import Pace
from peerline.core.trail import Observed
from peerline.hub.agents import Agents
from peerline.hub.clock import HubClock
from peerline.hub.facts import Facts
from peerline.hub.messages import Messages
from peerline.hub.tickets import LIFE_MS, Ticket, Tickets
from peerline.hub.wakeups import Wakeups
from peerline.server.events import Wheel
from peerline.server.exchange import Answer, Request
from peerline.server.query import members
from peerline.server.refusals import json_answer
from peerline.server.routes import Call, Proof, Route
from peerline.store.api import Hint
from peerline.wire.instants import instant

LOOK_S: Final = 0.5
UNREAD: Final = 20
TOLD_OF_ONE: Final = 1_000
TOLD_AGENTS: Final = 1_000
ADAPTER: Final = "watch ticket"
PATH: Final = "/v1/watch"


class Told:
    """What each agent was told of, so that a monitor that is armed anew does not say it again; bounded."""

    def __init__(self) -> None:
        self._ids: OrderedDict[AgentId, OrderedDict[MessageId, None]] = OrderedDict()

    def new(self, agent: AgentId, found: list[Message]) -> list[Message]:
        """Those that it was not told of; from now on it was."""
        told = self._ids.setdefault(agent, OrderedDict())
        self._ids.move_to_end(agent)
        if len(self._ids) > TOLD_AGENTS:
            self._ids.popitem(last=False)
        new = [message for message in found if message.id not in told]
        for message in new:
            told[message.id] = None
        while len(told) > TOLD_OF_ONE:
            told.popitem(last=False)
        return new


class Watch:
    """One open WebSocket of an agent, as a listener beside its streams (`hub.wakeups`)."""

    def __init__(self, ticket: Ticket, messages: Messages, facts: Facts, told: Told, now: Callable[[], float]) -> None:
        self.agent: Agent = ticket.proven.member.agent
        self.key, self.token_digest = ticket.proven.key, ticket.token
        self.presence_only = False
        self._messages, self._facts, self._told = messages, facts, told
        self._pace = Pace(now)
        self._socket: Any = None
        self._timer: asyncio.TimerHandle | None = None
        self._again = self._looking = False

    def over(self, socket: Any) -> None:
        self._socket = socket

    def hint(self, hint: Hint) -> None:
        if hint.kind in ("message", "reply"):
            self.look()

    def presence(self, data: bytes) -> None:
        pass

    @property
    def full(self) -> bool:
        return not self._socket.ready

    def heartbeat(self) -> None:
        self._socket.ping()

    def end(self) -> None:
        self._socket.end()

    def look(self) -> None:
        """Soon, and not more often than its reader takes lines."""
        if self._looking or self._timer is not None:
            self._again = True
            return
        self._timer = asyncio.get_running_loop().call_later(self._pace.wait_s(), self._start)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()

    def _start(self) -> None:
        self._timer = None
        if not self._socket.ready:
            return  # it comes back when the peer takes more
        self._looking = True
        waiting = self._messages.inbox(self.agent, peek=True)
        waiting.then(lambda found: self._with_replies([] if found.failed else found.result()))

    def _with_replies(self, waiting: list[Message]) -> None:
        replies = self._messages.sent(self.agent, "unread", UNREAD)
        replies.then(lambda found: self._tell(waiting, [] if found.failed else found.result()))

    def _tell(self, waiting: list[Message], replies: list[Message]) -> None:
        self._looking = False
        if self._socket.ready:
            new = self._told.new(self.agent.id, [*waiting, *replies])
            said = [self._line(message) for message in new]
            for line in lines(said):
                self._socket.send(line)
                self._pace.spend()
            for message in new[:LISTED]:
                self._facts.report(message.id, self.agent, Observed.ANNOUNCED, ADAPTER, None)
        if self._again:
            self._again = False
            self.look()

    def _line(self, message: Message) -> str:
        if message.recipient == self.agent.id:
            return request_line(message.id, message.sender_name, soon=message.delivery == "steer")
        return reply_line(message.id, message.recipient_name)


class WatchRoutes:
    """`place` is the hub's own host and port, once it is bound."""

    def __init__(
        self,
        tickets: Tickets,
        agents: Agents,
        messages: Messages,
        facts: Facts,
        wakeups: Wakeups,
        wheel: Wheel,
        clock: HubClock,
        place: Callable[[], str],
    ) -> None:
        self._tickets, self._agents, self._messages, self._facts = tickets, agents, messages, facts
        self._wakeups, self._wheel, self._clock, self._place = wakeups, wheel, clock, place
        self._told = Told()

    def routes(self) -> list[Route]:
        return [
            Route(
                "POST",
                PATH + "/tickets",
                Proof.AGENT,
                self.mint,
                (),
                "A URL that lets one WebSocket watch as this agent.",
                strict=True,
                answers=(201,),
            ),
            Route("GET", PATH, Proof.SELF, self.watch, None, "The WebSocket.", query=("ticket",), described=False),
        ]

    def mint(self, call: Call) -> Answer:
        caller = call.by
        secret = self._tickets.mint(caller.proven, caller.token, self._clock.monotonic())
        return json_answer(
            {"url": self.url(call.request, secret), "expiresAt": instant(self._clock.now() + LIFE_MS)}, 201
        )

    def url(self, request: Request, secret: str) -> str:
        """Where the caller reached us, so that its monitor does too."""
        host = self._place() if request.peer.unix else request.headers.get("host", "")
        return f"ws://{host}{PATH}?ticket={secret}"

    def watch(self, call: Call) -> Answer:
        request = call.request
        if request.headers.get("upgrade", "").lower() != "websocket":
            raise UpgradeRequired("this address speaks WebSocket only; a hub with KXM_HTTP=asgi has none")
        from peerline.server.websocket import WebSocket  # 15 ms that a hub without a watcher does not pay

        ticket = self._tickets.redeem(members(request).get("ticket", ""), self._clock.monotonic())
        if ticket is None:
            raise Unproven("the ticket is not known, was used, or has run out", nextAction="ask_for_a_new_ticket")
        agent = ticket.proven.member.agent.id
        if len(self._wakeups.feeds(agent)) >= limits.STREAMS_PER_AGENT:
            raise TooManyStreams(f"an agent may have {limits.STREAMS_PER_AGENT} streams", nextAction="close_a_stream")
        self._agents.heard(ticket.proven)
        watch = Watch(ticket, self._messages, self._facts, self._told, lambda: self._clock.monotonic() / 1000)

        def opened() -> None:
            self._wakeups.add(watch)
            self._wheel.add(watch)
            watch.look()

        def closed() -> None:
            watch.stop()
            self._wakeups.discard(watch)
            self._wheel.discard(watch)

        socket = WebSocket(request, on_opened=opened, on_resumed=watch.look, on_closed=closed)
        watch.over(socket)
        return socket
