"""Requests to one hub: pooled connections, a deadline for each call, further tries where they are safe."""

import asyncio
from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from typing import Any, Final, TypeVar

import msgspec

from peerline.client.address import Address
from peerline.client.backoff import pause_s
from peerline.client.connection import Answer, Line, Unanswered, request_bytes
from peerline.client.refusals import InvalidAnswer, OutcomeUnknown, Unreachable, refusal
from peerline.client.surroundings import Surroundings
from peerline.core.errors import InvalidJson, PeerlineError, TooLarge
from peerline.core.limits import BODY_BYTES

IDLE_CONNECTIONS: Final = 8
TRY_AGAIN_CODES: Final = frozenset(["hub_stopping", "busy"])

T = TypeVar("T")


class Requests:
    """Knows no identity: the caller hands in the headers."""

    def __init__(self, address: Address, surroundings: Surroundings, *, tries: int) -> None:
        self.address = address
        self._world = surroundings
        self._tries = tries
        self._idle: list[Line] = []

    async def call(
        self,
        method: str,
        path: str,
        payload: Mapping[str, Any] | None = None,
        *,
        headers: Mapping[str, str],
        timeout_s: float,
        repeatable: bool,
        tries: int | None = None,
    ) -> Answer:
        """The answer, if it is none of the refusals; `timeout_s` bounds all tries together.

        What certainly left nothing at the hub is tried again; what may have is tried again only if `repeatable`.

        Raises:
            Unreachable: no request left, or it only asked to read.
            OutcomeUnknown: one left, and no answer came.
            PeerlineError: the hub refused.
        """
        body = None if payload is None else encoded(payload)
        request = request_bytes(self.address, method, path, headers, body)
        deadline = self._world.now() + timeout_s
        sent = False
        last: PeerlineError | None = None
        for attempt in range(tries or self._tries):
            if attempt and not await self._paused(attempt, deadline):
                break
            try:
                answer = await self._once(request, deadline)
            except Unreachable as error:
                last = error
                continue
            except Unanswered as error:
                sent, last = True, error
                if not repeatable:
                    break
                continue
            except TimeoutError:
                sent, last = True, Unanswered(f"request timed out after {round(timeout_s * 1000)}ms")
                break
            last = refused(answer)
            if last is None:
                return answer
            if last.code not in TRY_AGAIN_CODES:
                raise last
        assert last is not None
        if not sent:
            raise last
        if method == "GET":
            raise Unreachable(last.text)
        raise OutcomeUnknown(f"{last.text}; it may or may not have happened")

    @asynccontextmanager
    async def stream(
        self, path: str, *, headers: Mapping[str, str], timeout_s: float
    ) -> AsyncIterator[AsyncIterator[bytes]]:
        """The body of a stream as it comes, on a connection of its own; `timeout_s` bounds the wait for its head."""
        request = request_bytes(self.address, "GET", path, headers, None, accept="text/event-stream")
        try:
            async with asyncio.timeout(timeout_s):
                line = await self._world.dial(self.address)
                try:
                    answer, chunks = await line.stream(request)
                except BaseException:
                    line.close()
                    raise
        except TimeoutError:
            raise Unreachable(f"no answer from {self.address} within {timeout_s:g} s") from None
        try:
            if error := refused(answer):
                raise error
            yield chunks
        finally:
            line.close()

    def close(self) -> None:
        while self._idle:
            self._idle.pop().close()

    async def _once(self, request: bytes, deadline: float) -> Answer:
        remaining = deadline - self._world.now()
        try:
            async with asyncio.timeout(remaining):
                line = self._reused() or await self._world.dial(self.address)
        except TimeoutError:
            raise Unreachable(f"no hub answers at {self.address} within the time given") from None
        try:
            async with asyncio.timeout(deadline - self._world.now()):
                answer = await line.exchange(request)
        except BaseException:
            line.close()
            raise
        if line.reusable and len(self._idle) < IDLE_CONNECTIONS:
            self._idle.append(line)
        else:
            line.close()
        return answer

    def _reused(self) -> Line | None:
        while self._idle:
            line = self._idle.pop()
            if line.reusable:
                return line
            line.close()
        return None

    async def _paused(self, attempt: int, deadline: float) -> bool:
        pause = pause_s(attempt, self._world.chance())
        if self._world.now() + pause >= deadline:
            return False
        await self._world.sleep(pause)
        return True


def encoded(payload: Mapping[str, Any]) -> bytes:
    """The body; members that are None are left out.

    Raises:
        Invalid: the text holds a lone surrogate, which JSON in UTF-8 cannot carry; or it is larger than a hub takes.
    """
    try:
        body = msgspec.json.encode({name: value for name, value in payload.items() if value is not None})
    except UnicodeEncodeError:
        raise InvalidJson("the text holds half of a surrogate pair, which cannot be sent") from None
    if len(body) > BODY_BYTES:
        raise TooLarge(f"the request is larger than {BODY_BYTES} bytes")
    return body


def decoded(answer: Answer, kind: type[T]) -> T:
    """The answer's record.

    Raises:
        InvalidAnswer: it is not what the contract says.
    """
    try:
        return msgspec.json.decode(answer.body, type=kind)
    except (msgspec.DecodeError, msgspec.ValidationError, UnicodeDecodeError):
        raise InvalidAnswer(f"hub returned invalid JSON with HTTP {answer.status}") from None


def refused(answer: Answer) -> PeerlineError | None:
    """The typed error, if the answer is a refusal."""
    if 200 <= answer.status < 300:
        return None
    if answer.status < 400:
        return InvalidAnswer(f"the hub answered HTTP {answer.status}, which its protocol does not have")
    try:
        body = msgspec.json.decode(answer.body)
    except (msgspec.DecodeError, UnicodeDecodeError):
        body = None
    if not isinstance(body, dict):
        return InvalidAnswer(f"hub returned invalid JSON with HTTP {answer.status}", status=answer.status)
    return refusal(answer.status, body, answer.headers.get("retry-after"))
