"""The hub from outside, for programs that run an event loop (docs/guides/python-client.md)."""

import asyncio
from collections.abc import AsyncGenerator, Callable, Iterable
from types import TracebackType
from typing import Any, Final, Literal, Self, TypeVar
from urllib.parse import quote

import msgspec

from peerline.client import fanout as scatter
from peerline.client import stream
from peerline.client.address import address
from peerline.client.answers import (
    AgentList,
    LeaseList,
    MessageList,
    NoteList,
    OneFact,
    OneLease,
    OneMessage,
    OneNote,
    PairList,
    RefusedList,
)
from peerline.client.backoff import pause_s
from peerline.client.events import Event
from peerline.client.records import (
    Acknowledged,
    Agent,
    Continued,
    Delivery,
    Fact,
    HeldPair,
    Lease,
    Message,
    Note,
    Record,
    RefusedSend,
    Registered,
    Sent,
    Ticket,
    Trail,
)
from peerline.client.refusals import OutcomeUnknown, TimedOut, Unreachable
from peerline.client.requests import Requests, decoded
from peerline.client.session import HEARTBEAT_S, Profile, Session
from peerline.client.surroundings import Surroundings
from peerline.core.errors import PeerlineError
from peerline.core.limits import AWAIT_MAX_MS, FANOUT_WAIT_MAX_MS, PATH
from peerline.core.text import trim

DEFAULT_URL: Final = "http://127.0.0.1:7331"
WAIT_S: Final = AWAIT_MAX_MS / 1000
FANOUT_S: Final = FANOUT_WAIT_MAX_MS / 1000
TRIES: Final = 4
_POLL_S: Final = 25.0  # shorter than the idle time-outs of common proxies
_GRACE_S: Final = 5.0
_OLD_HUB_PAUSE_S: Final = 0.5

R = TypeVar("R", bound=Record)
Reported = Literal[
    "not announced", "announced", "in turn", "read", "refused", "waits", "taken there", "held there", "in turn there"
]


class AsyncHub:
    """One agent's connection to a hub: `async with AsyncHub(project=…, name=…) as hub: …`.

    `url` is `http://…`, `https://…` or `unix:/path`. While it is open a heartbeat every 10 s keeps the agent online;
    leaving unregisters it, unless `unregister=False`. Every call has a deadline and ends in its answer or in a
    `PeerlineError` with a `code`. `tries` bounds how often a call that is safe to repeat is sent in all.

    With `minimal` the hub does not send back texts that this agent has sent or got: what `acknowledge` and `reply`
    return and the events that end a request have no `content`, and what `reply` returns has no `reply`.
    """

    def __init__(
        self,
        url: str = DEFAULT_URL,
        *,
        project: str,
        name: str,
        token: str | None = None,
        purpose: str = "Python client",
        model: str | None = None,
        host: str | None = None,
        branch: str | None = None,
        resume: str | None = None,
        unregister: bool = True,
        minimal: bool = False,
        tries: int = TRIES,
        heartbeat_s: float = HEARTBEAT_S,
        idle_s: float = stream.IDLE_S,
        on_registered: Callable[[Registered], None] | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        self._world = surroundings or Surroundings()
        self._requests = Requests(address(url), self._world, tries=tries)
        self._unregister = unregister
        self._idle_s = idle_s
        self._session = Session(
            self._requests,
            Profile(name=name, project=project, purpose=purpose, model=model, host=host, branch=branch),
            token=token,
            resume=resume,
            heartbeat_s=heartbeat_s,
            minimal=minimal,
            surroundings=self._world,
            on_registered=on_registered,
        )

    async def __aenter__(self) -> Self:
        await self.start()
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        await self.stop()

    async def start(self) -> Agent:
        """Register and stay online.

        Raises:
            DuplicateAgentName: the name is online elsewhere, and `resume` is no key of it.
            Unproven: the token is not this project's.
            Unreachable: no hub answers.
            AlreadyStarted: it is.
        """
        return await self._session.start()

    async def stop(self) -> None:
        """Leave; safe to call twice, and never an error."""
        await self._session.stop(unregister=self._unregister)

    @property
    def agent(self) -> Agent:
        """This agent, as the hub registered it last."""
        return self._session.agent

    async def agents(self, *, include_offline: bool = False, include_remote: bool = False) -> tuple[Agent, ...]:
        """Who is in the project, ourselves included; `include_remote`: and who can be reached in rooms."""
        asked = {"includeOffline": include_offline, "includeRemote": include_remote}
        query = "&".join(f"{name}=true" for name, wanted in asked.items() if wanted)
        return (await self._get("/v1/agents" + (f"?{query}" if query else ""), AgentList)).agents

    async def publish_remote(self, agents: Iterable[dict[str, Any]]) -> None:
        """Tell who can be reached in rooms, instead of what was told before; only the project's gateway may.

        Raises: GatewayOnly
        """
        await self._session.call("POST", "/v1/agents/remote", {"agents": list(agents)}, repeatable=True)

    async def send(
        self,
        target: str,
        content: str,
        *,
        delivery: Delivery = "followUp",
        idempotency_key: str | None = None,
        correlation_id: str | None = None,
        reply_to: str | None = None,
        ttl_ms: int | None = None,
        hops: int | None = None,
        max_hops: int | None = None,
        path: Iterable[str] | None = None,
        allow_offline: bool = False,
        needs: str | None = None,
    ) -> Message:
        """Hand one request to `target` (a name or an id); the hub has it on disk when this returns.

        Without `idempotency_key` one is made, so that a lost answer is asked for again without sending twice. `path` is
        what a request that is passed on has come through: `next_path`. `message.held` says whether it has to wait for a
        person. `needs="human"`, for an address in a room: a person of that machine answers, no agent.

        Raises:
            OutcomeUnknown: no answer after all tries; repeat with the error's `idempotency_key`.
            RingDetected: the target stands in `path`; answer the request at hand instead.
            PairHeld: so much between the two is held that no more is taken.
            TargetNotFound: the target is offline (`allow_offline`) or unknown.
        """
        key = idempotency_key or f"py:{self._world.entropy(16).hex()}"
        payload = {
            "target": target,
            "content": content,
            "delivery": delivery,
            "idempotencyKey": key,
            "correlationId": correlation_id,
            "replyTo": reply_to,
            "ttlMs": ttl_ms,
            "hops": hops,
            "maxHops": max_hops,
            "path": None if path is None else list(path),
            "allowOffline": allow_offline or None,
            "needs": needs,
        }
        try:
            answer = await self._session.call("POST", "/v1/messages", payload, repeatable=True)
        except OutcomeUnknown as error:
            raise OutcomeUnknown(error.text, idempotency_key=key) from None
        sent = decoded(answer, Sent)
        return msgspec.structs.replace(
            sent.message, content=sent.message.content or content, remote=sent.remote or sent.message.remote
        )

    async def get(self, message_id: str) -> Message:
        """The message as it is now; only its two ends may."""
        return (await self._get(_message_path(message_id), OneMessage)).message

    async def wait(self, message_id: str, timeout_s: float = WAIT_S) -> Message:
        """The message once it is final. Ending the wait, by time or by cancelling it, changes nothing at the hub.

        Raises:
            TimedOut: it is still open.
            Unreachable: the time is up and the last look at the hub failed.
        """
        deadline = self._world.now() + timeout_s
        failures = 0
        while True:
            before = self._world.now()
            wait_s = max(0.0, min(_POLL_S, deadline - before))
            path = f"{_message_path(message_id)}?waitMs={round(wait_s * 1000)}"
            try:
                answer = await self._session.call("GET", path, repeatable=True, timeout_s=wait_s + _GRACE_S, tries=1)
            except Unreachable:
                pause = pause_s(failures, self._world.chance())
                failures += 1
                if self._world.now() + pause >= deadline:
                    raise
                await self._world.sleep(pause)
                continue
            failures = 0
            message = decoded(answer, OneMessage).message
            if message.final:
                return message
            now = self._world.now()
            if now >= deadline:
                raise TimedOut(f"timed out waiting for {message_id}")
            if now - before < wait_s / 2:  # a hub that does not know waitMs answers at once
                await self._world.sleep(min(_OLD_HUB_PAUSE_S, deadline - now))

    async def ask(self, target: str, content: str, *, timeout_s: float = WAIT_S, **options: Any) -> Message:
        """`send` and `wait`; the options are `send`'s."""
        message = await self.send(target, content, **options)
        return message if message.final else await self.wait(message.id, timeout_s)

    async def cancel(self, message_id: str) -> Message:
        """Withdraw a request we sent; work already done is not undone."""
        answer = await self._session.call("DELETE", _message_path(message_id), repeatable=True)
        return decoded(answer, OneMessage).message

    async def inbox(self, *, peek: bool = False) -> tuple[Message, ...]:
        """Requests that still need our reply, oldest first. Acknowledges nothing; a peek is no reading either."""
        path = f"/v1/agents/{quote(self.agent.id, safe='')}/inbox" + ("?peek=1" if peek else "")
        return (await self._get(path, MessageList)).messages

    async def acknowledge(self, message_id: str, *, adapter: str | None = None) -> Acknowledged:
        """Take a request: it is not pushed again. Of several sessions, `first` tells which one has the work.

        `adapter` is shown in the message's trail as who took it.

        Raises:
            OutcomeUnknown: no answer came. It is not tried again here, since a second answer could not say `first`.
        """
        answer = await self._session.call(
            "POST", _message_path(message_id) + "/ack", {"adapter": adapter}, repeatable=False
        )
        return decoded(answer, Acknowledged)

    async def reply(self, message_id: str, content: str) -> Message:
        """Answer a request, once. A lost answer is looked up, so that our own reply is never taken for another's.

        Raises:
            DuplicateReply: it has a reply, with another text.
            WrongState: it was cancelled or has expired.
        """
        payload = {"content": content}
        try:
            answer = await self._session.call("POST", _message_path(message_id) + "/reply", payload, repeatable=False)
        except OutcomeUnknown:
            message = await self.get(message_id)
            if message.reply is not None and trim(message.reply.content) == trim(content):
                return message
            answer = await self._session.call("POST", _message_path(message_id) + "/reply", payload, repeatable=False)
        return decoded(answer, OneMessage).message

    async def note(self, message_id: str, content: str) -> Note:
        """Tell the sender how far we are; it does not use up the one reply."""
        path = _message_path(message_id) + "/notes"
        answer = await self._session.call("POST", path, {"content": content}, repeatable=False)
        return decoded(answer, OneNote).note

    async def trail(self, message_id: str) -> Trail:
        """Who observed what of a message, when; why it is not further, and what to do."""
        return await self._get(_message_path(message_id) + "/trail", Trail)

    async def report(self, message_id: str, fact: Reported, *, adapter: str, reason: str | None = None) -> Fact:
        """Write into the trail how near a message, or our own request's outcome, came to the model at our end.

        `adapter` names the program that says so; `reason` why it was not announced.
        """
        payload = {"fact": fact, "adapter": adapter, "reason": reason}
        answer = await self._session.call("POST", _message_path(message_id) + "/facts", payload, repeatable=True)
        return decoded(answer, OneFact).fact

    async def watch_ticket(self) -> Ticket:
        """A WebSocket's URL that gets this agent's lines; it lets one in, once, within a minute."""
        return decoded(await self._session.call("POST", "/v1/watch/tickets", {}, repeatable=True), Ticket)

    async def refused(self) -> tuple[RefusedSend, ...]:
        """What the hub refused us to send in the last hour, newest first; a hub that was restarted knows nothing."""
        return (await self._get("/v1/refused", RefusedList)).refused

    async def held_pairs(self) -> tuple[HeldPair, ...]:
        """The project's pairs of agents that only talked to each other, of which something is held."""
        return (await self._get("/v1/pairs", PairList)).pairs

    async def continue_pair(self, first: str, second: str) -> Continued:
        """Let two agents go on; what was held between them goes out in order.

        Raises:
            PersonOnly: we are not registered as a person.
        """
        answer = await self._session.call("POST", "/v1/pairs/continue", {"agents": [first, second]}, repeatable=True)
        return decoded(answer, Continued)

    async def leases(self) -> tuple[Lease, ...]:
        """Who holds what in the project now, by the names of the things."""
        return (await self._get("/v1/leases", LeaseList)).leases

    async def acquire(self, name: str, *, ttl_ms: int | None = None) -> Lease:
        """Hold a named thing for a while (5 minutes); our own is held longer.

        Raises:
            LeaseHeld: another agent holds it; `extras["lease"]` is its record.
        """
        return await self._lease(name, "acquire", {"ttlMs": ttl_ms})

    async def renew(self, name: str, fencing_token: int, *, ttl_ms: int | None = None) -> Lease:
        """Hold it longer.

        Raises:
            LeaseNotFound, LeaseSuperseded, LeaseExpired
        """
        return await self._lease(name, "renew", {"fencingToken": fencing_token, "ttlMs": ttl_ms})

    async def release(self, name: str, fencing_token: int) -> Lease:
        """Give it back. It is not tried again here: a second try could not tell its own first from another's.

        Raises:
            LeaseNotFound, LeaseSuperseded; OutcomeUnknown: no answer came.
        """
        return await self._lease(name, "release", {"fencingToken": fencing_token}, repeatable=False)

    async def _lease(self, name: str, verb: str, payload: dict[str, Any], *, repeatable: bool = True) -> Lease:
        path = f"/v1/leases/{quote(name, safe='')}/{verb}"
        return decoded(await self._session.call("POST", path, payload, repeatable=repeatable), OneLease).lease

    async def notes(self, message_id: str) -> tuple[Note, ...]:
        """The notes on a message, oldest first."""
        return (await self._get(_message_path(message_id) + "/notes", NoteList)).notes

    async def sent(
        self, *, state: Literal["open", "undelivered", "final", "unread", "all"] = "all", limit: int | None = None
    ) -> tuple[Message, ...]:
        """What this agent sent, newest first; undelivered: nobody took it, and open or expired; unread: replied,
        and we have not fetched the reply."""
        query = f"?state={state}" + (f"&limit={limit}" if limit is not None else "")
        return (await self._get("/v1/messages" + query, MessageList)).messages

    async def fanout(
        self,
        targets: Iterable[str],
        content: str,
        *,
        correlation_id: str | None = None,
        idempotency_key_prefix: str | None = None,
        ttl_ms: int | None = None,
        needs: str | None = None,
        timeout_s: float = FANOUT_S,
    ) -> tuple[scatter.Response, ...]:
        """Ask one to three online peers the same; collect what came until `timeout_s`. One failure fails no other."""
        asked = scatter.targets(targets)
        deadline = self._world.now() + timeout_s

        async def one(target: str) -> scatter.Response:
            key = scatter.key(idempotency_key_prefix, target, correlation_id) if idempotency_key_prefix else None
            try:
                message = await self.send(
                    target, content, idempotency_key=key, correlation_id=correlation_id, ttl_ms=ttl_ms, needs=needs
                )
            except PeerlineError as error:
                return scatter.failed(target, error)
            try:
                if not message.final:
                    message = await self.wait(message.id, max(0.0, deadline - self._world.now()))
                return scatter.answered(target, message)
            except TimedOut:
                return await self._last_look(target, message)
            except PeerlineError:
                return scatter.pending(target, message, "aborted")

        async with asyncio.TaskGroup() as group:
            tasks = [group.create_task(one(target)) for target in asked]
        return tuple(task.result() for task in tasks)

    def events(
        self,
        *,
        notes: bool = False,
        resume: str | None = None,
        on_gap: Callable[[PeerlineError | None], None] | None = None,
    ) -> AsyncGenerator[Event, None]:
        """What happens to this agent, until you stop asking. Lost connections are mended, with nothing missed.

        `resume` is an `event.resume` of an earlier stream: replies, cancels and expiries since then come first. A
        request comes at least once in all and once in this iterator; acknowledge what you take. `on_gap` is told of
        each failed try, and None when the stream is back.

        Raises:
            Unproven, DuplicateAgentName: the identity is lost for good.
        """
        return stream.events(
            self._session,
            self._requests,
            self._world,
            notes=notes,
            resume=resume,
            idle_s=self._idle_s,
            on_gap=on_gap,
        )

    async def _get(self, path: str, kind: type[R]) -> R:
        return decoded(await self._session.call("GET", path, repeatable=True), kind)

    async def _last_look(self, target: str, sent: Message) -> scatter.Response:
        try:
            message = await self.get(sent.id)
        except PeerlineError:
            message = sent
        if message.final:
            return scatter.answered(target, message)
        return scatter.pending(target, message, "timed_out")


def next_path(handled: Message, agent_id: str) -> tuple[str, ...]:
    """The `path` of what `agent_id` sends while it handles that request: what led to it, or its sender, then itself."""
    return (*(handled.path or (handled.sender,)), agent_id)[-PATH:]


def _message_path(message_id: str) -> str:
    return "/v1/messages/" + quote(message_id, safe="")
