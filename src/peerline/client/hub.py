"""The hub from outside, for programs without an event loop: `AsyncHub`, call by call, on a thread of its own."""

import asyncio
import threading
from collections.abc import AsyncGenerator, Callable, Coroutine, Generator, Iterable
from types import TracebackType
from typing import Any, Literal, Self, TypeVar

from peerline.client import fanout as scatter
from peerline.client.async_hub import DEFAULT_URL, FANOUT_S, TRIES, WAIT_S, AsyncHub, Reported
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
    RefusedSend,
    Registered,
    Ticket,
    Trail,
)
from peerline.client.session import HEARTBEAT_S
from peerline.client.stream import IDLE_S
from peerline.client.surroundings import Surroundings
from peerline.core.errors import PeerlineError

T = TypeVar("T")


class Hub:
    """As `AsyncHub`, blocking: `with Hub(project=…, name=…) as hub: …`. Calls may come from any thread.

    An interrupt (Ctrl-C) ends the call that waits, not the connection.
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
        idle_s: float = IDLE_S,
        on_registered: Callable[[Registered], None] | None = None,
        surroundings: Surroundings | None = None,
    ) -> None:
        self._hub = AsyncHub(
            url,
            project=project,
            name=name,
            token=token,
            purpose=purpose,
            model=model,
            host=host,
            branch=branch,
            resume=resume,
            unregister=unregister,
            minimal=minimal,
            tries=tries,
            heartbeat_s=heartbeat_s,
            idle_s=idle_s,
            on_registered=on_registered,
            surroundings=surroundings,
        )
        self._loop: asyncio.AbstractEventLoop | None = None
        self._thread: threading.Thread | None = None

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.stop()

    def start(self) -> Agent:
        if self._loop is None:
            self._loop = asyncio.new_event_loop()
            self._thread = threading.Thread(target=self._loop.run_forever, name="peerline client", daemon=True)
            self._thread.start()
            try:
                return self._run(self._hub.start())
            except BaseException:
                self._end()
                raise
        return self._run(self._hub.start())

    def stop(self) -> None:
        if self._loop is None:
            return
        try:
            self._run(self._hub.stop())
        finally:
            self._end()

    @property
    def agent(self) -> Agent:
        return self._hub.agent

    def agents(self, *, include_offline: bool = False, include_remote: bool = False) -> tuple[Agent, ...]:
        return self._run(self._hub.agents(include_offline=include_offline, include_remote=include_remote))

    def publish_remote(self, agents: Iterable[dict[str, Any]]) -> None:
        return self._run(self._hub.publish_remote(agents))

    def send(
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
        return self._run(
            self._hub.send(
                target,
                content,
                delivery=delivery,
                idempotency_key=idempotency_key,
                correlation_id=correlation_id,
                reply_to=reply_to,
                ttl_ms=ttl_ms,
                hops=hops,
                max_hops=max_hops,
                path=path,
                allow_offline=allow_offline,
                needs=needs,
            )
        )

    def get(self, message_id: str) -> Message:
        return self._run(self._hub.get(message_id))

    def wait(self, message_id: str, timeout_s: float = WAIT_S) -> Message:
        return self._run(self._hub.wait(message_id, timeout_s))

    def ask(self, target: str, content: str, *, timeout_s: float = WAIT_S, **options: Any) -> Message:
        return self._run(self._hub.ask(target, content, timeout_s=timeout_s, **options))

    def cancel(self, message_id: str) -> Message:
        return self._run(self._hub.cancel(message_id))

    def inbox(self, *, peek: bool = False) -> tuple[Message, ...]:
        return self._run(self._hub.inbox(peek=peek))

    def acknowledge(self, message_id: str, *, adapter: str | None = None) -> Acknowledged:
        return self._run(self._hub.acknowledge(message_id, adapter=adapter))

    def reply(self, message_id: str, content: str) -> Message:
        return self._run(self._hub.reply(message_id, content))

    def note(self, message_id: str, content: str) -> Note:
        return self._run(self._hub.note(message_id, content))

    def trail(self, message_id: str) -> Trail:
        return self._run(self._hub.trail(message_id))

    def report(self, message_id: str, fact: Reported, *, adapter: str, reason: str | None = None) -> Fact:
        return self._run(self._hub.report(message_id, fact, adapter=adapter, reason=reason))

    def watch_ticket(self) -> Ticket:
        return self._run(self._hub.watch_ticket())

    def refused(self) -> tuple[RefusedSend, ...]:
        return self._run(self._hub.refused())

    def held_pairs(self) -> tuple[HeldPair, ...]:
        return self._run(self._hub.held_pairs())

    def continue_pair(self, first: str, second: str) -> Continued:
        return self._run(self._hub.continue_pair(first, second))

    def leases(self) -> tuple[Lease, ...]:
        return self._run(self._hub.leases())

    def acquire(self, name: str, *, ttl_ms: int | None = None) -> Lease:
        return self._run(self._hub.acquire(name, ttl_ms=ttl_ms))

    def renew(self, name: str, fencing_token: int, *, ttl_ms: int | None = None) -> Lease:
        return self._run(self._hub.renew(name, fencing_token, ttl_ms=ttl_ms))

    def release(self, name: str, fencing_token: int) -> Lease:
        return self._run(self._hub.release(name, fencing_token))

    def notes(self, message_id: str) -> tuple[Note, ...]:
        return self._run(self._hub.notes(message_id))

    def sent(
        self, *, state: Literal["open", "undelivered", "final", "unread", "all"] = "all", limit: int | None = None
    ) -> tuple[Message, ...]:
        return self._run(self._hub.sent(state=state, limit=limit))

    def fanout(
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
        return self._run(
            self._hub.fanout(
                targets,
                content,
                correlation_id=correlation_id,
                idempotency_key_prefix=idempotency_key_prefix,
                ttl_ms=ttl_ms,
                needs=needs,
                timeout_s=timeout_s,
            )
        )

    def events(
        self,
        *,
        notes: bool = False,
        resume: str | None = None,
        on_gap: Callable[[PeerlineError | None], None] | None = None,
    ) -> Generator[Event, None, None]:
        """As `AsyncHub.events`; closing the iterator ends the stream. `on_gap` is called on the client's thread."""
        steps = _Steps(self._hub.events(notes=notes, resume=resume, on_gap=on_gap))
        try:
            while True:
                yield self._run(steps.next())
        finally:
            self._run(steps.close())

    def _run(self, work: Coroutine[Any, Any, T]) -> T:
        if self._loop is None:
            work.close()
            raise RuntimeError("the hub client is not started")
        future = asyncio.run_coroutine_threadsafe(work, self._loop)
        try:
            return future.result()
        except BaseException:
            future.cancel()
            raise

    def _end(self) -> None:
        loop, thread = self._loop, self._thread
        assert loop is not None
        assert thread is not None
        self._loop = self._thread = None
        loop.call_soon_threadsafe(loop.stop)
        thread.join()
        loop.close()


class _Steps:
    """An event stream taken step by step; a step that was given up is over before the stream is closed."""

    def __init__(self, happening: AsyncGenerator[Event, None]) -> None:
        self._happening = happening
        self._step: asyncio.Task[Any] | None = None

    async def next(self) -> Event:
        self._step = asyncio.current_task()
        return await anext(self._happening)

    async def close(self) -> None:
        if self._step is not None and not self._step.done():
            self._step.cancel()
            await asyncio.wait([self._step])
        await self._happening.aclose()
