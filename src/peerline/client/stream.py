"""An agent's events without an end: reconnects for ever, goes on where it was, finds its identity again."""

import asyncio
from collections import OrderedDict
from collections.abc import AsyncGenerator, AsyncIterator, Callable
from typing import Final, Protocol
from urllib.parse import quote

from peerline.client.backoff import pause_s
from peerline.client.connection import Unanswered
from peerline.client.events import Decoder, Event, event
from peerline.client.records import Agent
from peerline.client.refusals import HubFailed, InvalidAnswer, Unreachable
from peerline.client.requests import Requests
from peerline.client.session import REQUEST_S
from peerline.client.surroundings import Surroundings
from peerline.core.errors import InvalidAgentIdentity, PeerlineError, TooMany, Unavailable

IDLE_S: Final = 45.0  # three of the hub's heartbeats
REMEMBERED: Final = 10_000

# What a later try may cure; every other refusal ends the stream.
PASSING: Final = (Unreachable, Unanswered, InvalidAnswer, HubFailed, Unavailable, TooMany)


class Seat(Protocol):
    """Whose events are read: a session of our own, or one that another process holds."""

    @property
    def agent(self) -> Agent: ...

    def agent_key(self) -> str: ...

    def headers(self) -> dict[str, str]: ...

    async def find_back(self, key: str) -> None:
        """The hub does not take `key` any more."""
        ...


async def events(
    session: Seat,
    requests: Requests,
    surroundings: Surroundings,
    *,
    notes: bool,
    resume: str | None,
    idle_s: float,
    on_gap: Callable[[PeerlineError | None], None] | None,
) -> AsyncGenerator[Event, None]:
    decoder = Decoder(resume)
    given: OrderedDict[str, None] = OrderedDict()
    tries, lost = 0, False
    while True:
        key = session.agent_key()
        path = f"/v1/events?agentId={quote(session.agent.id, safe='')}{'&notes=1' if notes else ''}"
        headers = session.headers()
        if decoder.last_id:
            headers["last-event-id"] = decoder.last_id
        decoder = Decoder(decoder.last_id)
        try:
            async with requests.stream(path, headers=headers, timeout_s=REQUEST_S) as chunks:
                while (chunk := await _next(chunks, idle_s)) is not None:
                    for frame in decoder.feed(chunk):
                        if lost and on_gap is not None:
                            on_gap(None)
                        tries, lost = 0, False
                        happened = event(frame)
                        if happened is not None and _is_new(happened, given):
                            yield happened
            gap: PeerlineError = Unanswered("the hub ended the stream")
        except InvalidAgentIdentity as error:
            gap = error
            try:
                await session.find_back(key)
            except PASSING as failed:
                gap = failed
        except PASSING as error:
            gap = error
        lost = True
        if on_gap is not None:
            on_gap(gap)
        await surroundings.sleep(pause_s(tries, surroundings.chance()))
        tries += 1


async def _next(chunks: AsyncIterator[bytes], idle_s: float) -> bytes | None:
    try:
        async with asyncio.timeout(idle_s):
            return await anext(chunks, None)
    except TimeoutError:
        raise Unanswered(f"nothing came from the hub for {idle_s:g} s") from None


def _is_new(happened: Event, given: OrderedDict[str, None]) -> bool:
    """A new stream offers all queued requests again; whoever holds this iterator has them already."""
    if happened.type != "message" or happened.message is None:
        return True
    if happened.message.id in given:
        return False
    given[happened.message.id] = None
    if len(given) > REMEMBERED:
        given.popitem(last=False)
    return True
