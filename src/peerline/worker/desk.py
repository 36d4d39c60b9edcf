"""The worker's desk on the hub: what is asked of its agent, in order, and every answer sent until the hub has it."""

import asyncio
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from dataclasses import dataclass
from typing import Any, Final, TypeVar

from peerline.client.async_hub import AsyncHub, Reported
from peerline.client.backoff import pause_s
from peerline.client.events import Event
from peerline.client.records import Message
from peerline.client.refusals import OutcomeUnknown
from peerline.client.stream import PASSING
from peerline.client.surroundings import Surroundings
from peerline.core.errors import DuplicateAgentName, Invalid, PeerlineError, Unproven
from peerline.worker import wording
from peerline.worker.binding import Binding
from peerline.worker.waiting import Waiting

FIRST_S: Final = 0.25
LONGEST_S: Final = 30.0
UNREAD: Final = 20
NOTED: Final = 10_000
# Of these the next try, or the next registration, may be free.
CURABLE: Final = (*PASSING, OutcomeUnknown, Unproven, DuplicateAgentName)

T = TypeVar("T")


def _get(message_id: str) -> Callable[[AsyncHub], Awaitable[Message]]:
    return lambda hub: hub.get(message_id)


@dataclass(frozen=True, slots=True)
class Outcomes:
    """Requests of this agent that have ended and were not read."""

    ended: tuple[Message, ...]


Work = Message | Outcomes


class Desk:
    """`adapter` names us in trails; `news` is called when there may be something to do."""

    def __init__(self, binding: Binding, *, adapter: str, news: Callable[[], None], world: Surroundings) -> None:
        self._binding, self._adapter, self._news, self._world = binding, adapter, news, world
        self._waiting = Waiting()
        self._ended: dict[str, Message] = {}
        self._noted: set[tuple[str, str]] = set()
        self._hub: AsyncHub | None = None
        self._here = asyncio.Event()
        self._running: set[asyncio.Task[None]] = set()

    async def connected(self, hub: AsyncHub) -> None:
        """Read what is open for us, taken by an earlier worker or not, and which of our own requests have ended."""
        for message in await hub.inbox(peek=True):
            self._add(message)
        try:
            for message in await hub.sent(state="unread", limit=UNREAD):
                self._ended[message.id] = message
        except Invalid:
            pass  # a hub that does not know the question
        self._hub = hub
        self._here.set()
        self._news()

    def disconnected(self) -> None:
        self._hub = None
        self._here.clear()

    def took(self, event: Event) -> None:
        """An event of the agent's stream."""
        message = event.message
        if message is None:
            return
        if event.type == "message":
            self._add(message)
        elif event.type in ("reply", "cancelled", "expired"):
            self._waiting.drop(message.id)
            if self._hub is not None and message.sender == self._hub.agent.id and event.type != "cancelled":
                self._ended[message.id] = message
        self._news()

    def steer_waits(self) -> bool:
        return self._waiting.first(only_steer=True) is not None

    async def choose(self, *, only_steer: bool) -> Work | None:
        """The next thing to do, looked up at the hub: what has ended meanwhile is passed over. It is ours now.

        None: there is nothing, or no hub to ask.
        """
        while (message := self._waiting.first(only_steer=only_steer)) is not None:
            if self._hub is None:
                return None
            fresh = await self._asked(_get(message.id))
            if self._waiting.take(message.id) is None or fresh is None or fresh.final:
                self._waiting.drop(message.id)
                self._binding.sent(message.id)
                continue
            if (answer := self._binding.answer(message.id)) is not None:
                self._keep(self._reply(message.id, answer))
                continue
            return fresh
        if only_steer or not self._ended or self._hub is None:
            return None
        unread = await self._asked(lambda hub: hub.sent(state="unread", limit=UNREAD)) or ()
        ids = {message.id for message in unread}
        ended = tuple(one for one in self._ended.values() if one.id in ids or one.status == "expired")
        self._ended.clear()
        return Outcomes(ended) if ended else None

    def text(self, work: Work, *, joins: Iterable[Message] = ()) -> str:
        """What the model is told."""
        if isinstance(work, Outcomes):
            return wording.outcomes(work.ended)
        nonce = self._world.entropy(12)
        return wording.request(work, nonce, begun_before=work.status == "delivered", joins=tuple(joins))

    def handed_in(self, work: Work) -> None:
        ended = work.ended if isinstance(work, Outcomes) else (work,)
        for message in ended:
            self._fact(message.id, "announced")

    def begun(self, message: Message) -> None:
        """Its turn has begun: only now it is acknowledged."""
        self._keep(self._acknowledge(message.id))

    def answered(self, messages: Iterable[Message], text: str) -> None:
        """The turn has settled on this text: it is written down at once and sent until the hub has it."""
        ids = [message.id for message in messages]
        answer = wording.reply(text)
        self._binding.keep_answer(ids, answer)
        for message_id in ids:
            self._keep(self._reply(message_id, answer))

    def note(self, messages: Iterable[Message], text: str) -> None:
        """Tell who waits for these how it stands, each thing once."""
        for message in messages:
            if (message.id, text) not in self._noted and len(self._noted) < NOTED:
                self._noted.add((message.id, text))
                self._keep(self._note(message.id, text))

    def put_back(self, work: Work, *, lost: bool) -> None:
        """It was not finished."""
        if isinstance(work, Message):
            self._waiting.put_back(work, lost=lost)
        else:
            self._ended |= {message.id: message for message in work.ended}

    async def finish(self, within_s: float) -> None:
        """Let what is on its way to the hub arrive, for a while at most."""
        if self._running:
            await asyncio.wait(self._running, timeout=within_s)
        for task in self._running:
            task.cancel()

    def _add(self, message: Message) -> None:
        self._waiting.add(message)

    async def _acknowledge(self, message_id: str) -> None:
        await self._asked(lambda hub: hub.acknowledge(message_id, adapter=self._adapter))
        self._fact(message_id, "in turn")

    async def _reply(self, message_id: str, text: str) -> None:
        await self._asked(lambda hub: hub.reply(message_id, text))
        self._binding.sent(message_id)

    async def _note(self, message_id: str, text: str) -> None:
        await self._asked(lambda hub: hub.note(message_id, text))

    def _fact(self, message_id: str, fact: Reported) -> None:
        async def tell() -> None:
            hub = self._hub
            if hub is not None:
                try:
                    await hub.report(message_id, fact, adapter=self._adapter)
                except PeerlineError:
                    pass  # what the trail misses is no reason to stop

        self._keep(tell())

    async def _asked(self, call: Callable[[AsyncHub], Awaitable[T]]) -> T | None:
        """Ask until the hub answers; a refusal is an answer, and nothing comes back with it."""
        tries = 0
        while True:
            await self._here.wait()
            hub = self._hub
            if hub is None:
                continue
            try:
                return await call(hub)
            except CURABLE:
                pass
            except PeerlineError:
                return None
            await self._world.sleep(pause_s(tries, self._world.chance(), FIRST_S, LONGEST_S))
            tries += 1

    def _keep(self, work: Coroutine[Any, Any, None]) -> None:
        task = asyncio.create_task(work)
        self._running.add(task)
        task.add_done_callback(self._running.discard)
